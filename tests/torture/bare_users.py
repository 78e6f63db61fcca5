"""Every command of the README as a user who may write nowhere but into one folder."""

from bare_user import BareUser
from own_rows import GOOD
from places import REFERENCE

from torture.campaign import Campaign
from torture.children import Outcome
from torture.judge import find_faults

RULE = "datasets: [sonar]\nsplit: {repeats: 2, seed: 5}\nlearners: {ave-perc: {epochs: 5}, fld: , lr: }\n"
COMMANDS = """
fit mine.csv --set steps=2000 --model OUT/m.json
fit mine.csv --learner fld --model OUT/fld.json
evaluate mine.csv --learners rcd-bias,soft-svm,lr,sla --splits 2 --out OUT/mine
plot --figure boundary --dataset yinyang --learners fld --force --out OUT/y.png
table REFERENCE --table IV
report REFERENCE -o OUT/report.html
run mine.yaml --out OUT/results
table REFERENCE --format latex
compare REFERENCE
stats REFERENCE --table II
status REFERENCE
plot REFERENCE
complexity mine.csv
prune mine.csv --by neighbours --out OUT/p.csv
validate configs/table2.yaml mine.yaml
schema
learners pivot
datasets
datasets show heart
datasets of configs/table2.yaml
datasets verify
"""


class BareUsers(Campaign):
    name = "bare-users"
    unit = "commands"
    n_short = 0  # tests/faults/test_unwritable_installation.py is the short form

    def prepare(self) -> None:
        self.user = BareUser({"mine.csv": GOOD, "mine.yaml": RULE})

    def close(self) -> None:
        self.user.remove()

    def attack(self, seed: int) -> list[str]:
        lines = COMMANDS.strip().splitlines()
        line = lines[seed % len(lines)].replace("OUT/", f"{self.user.writable}/{seed}-")
        words = line.replace("REFERENCE", str(REFERENCE)).split()
        ended = self.user.run(*words)
        self.counts[f"{words[0]}, exit {ended.code}"] += 1
        faults = find_faults(Outcome(ended.code, ended.out, ended.err), shows_progress=True)
        if ended.code:
            faults.append(f"exit code {ended.code}: {ended.err[-300:]}")
        return [f"{fault} [zoloss {' '.join(words)}]" for fault in faults]
