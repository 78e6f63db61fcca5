"""Tables that nothing can be learned from: one sentence each, with file and line."""

import shlex

from own_rows import COLOURS, SEVERAL, refused

MANY = "a,code,label\n" + "".join(f"1,c{i},{'xy'[i % 2]}\n" for i in range(101))

FOURTEEN = "a,label\n" + "".join(f"{i},c{i % 14}\n" for i in range(56))

BAD_TABLES = [
    ("", "is empty"),
    ("a,b,label\n", "a header but no rows"),
    ("a,a,label\n1,2,x\n", "the column 'a' 2 times"),
    (",a,label\n0,2,x\n", ":1: column 1 has no name"),
    ("a,b,label\n1,2,x\n1,2\n", ":3: 2 fields where the header has 3"),
    ('a,b,label\n1,"p\nq",x\n1,2\n', ":4: 2 fields"),
    ("a,b,label\n1,inf,x\n1,2,y\n", ":2: column 'b' is inf, not a finite number"),
    ("a,b,label\n1,1e999,x\n1,2,y\n", "not a finite number"),
    ("a,b,label\n1,nan,x\n1,2,y\n", ":2: column 'b' has no value"),
    ("a,label\n3,1\n4,2\n5,1.0\n", ":4: the label column 'label' holds '1.0' and, in line 2, '1', which are"),
    (
        "a,label\n1,x\n,y\n",
        ":3: column 'a' has no value; set missing to 'drop' to leave such rows out, or to 'zero'",
    ),
    ("a,label\n1,x\n2,\n", ":3: the label column 'label' has no value"),
    ("a,label\n1,x\n2,x\n", "one class only, 'x'; two are needed"),
    ("a,label\n1,x\n2,y\n3,z\n", "3 classes (x, y, z), but 'fld' supports only two: use --positive CLASS"),
    ("label\nx\ny\n", "no features"),
    ("a;label\n1,5;x\n2,5;y\n", ":2: column 'a' holds the text '1,5': numbers need a decimal point"),
    ('a,b,label\n1,"2,x\n', "not a CSV file"),
    (b"a,b\n\x00\xff,1\n", "neither UTF-8 text nor a table"),
    (MANY, ":2: column 'code' holds the text 'c0' and has 101 levels, more than the 100"),
    ("c,c=p,label\np,1,x\nq,2,y\n", "two features would be called 'c=p'"),
    ("a,label\n1e200,x\n-1e200,y\n", "the values of 'a' are too large to be scaled"),
]


def test_tables_that_cannot_be_learned_from(zoloss, table):
    for text, part in BAD_TABLES:
        path = table(text)
        refused(zoloss("fit", path, "--learner", "fld"), 3, part, str(path))


def test_tables_that_learners_cannot_be_compared_on(zoloss, table, tmp_path):
    files = ["--out", tmp_path / "out", "--save-config", tmp_path / "c.yaml"]
    for text, part in BAD_TABLES[::4]:
        path = table(text)
        refused(zoloss("evaluate", path, "--learners", "fld", *files), 3, part)
    # Scaling to [-1, 1] stands more than dividing by a deviation does.
    table("a,label\n1e308,x\n-1e308,y\n")
    refused(zoloss("evaluate", path, "--learners", "fld", *files), 3, "the values of 'a' are too large")
    assert list(tmp_path.iterdir()) == [path]


def test_names_that_are_not_there(zoloss, table, tmp_path):
    path, missing = table(COLOURS), tmp_path / "min.csv"
    refused(zoloss("fit", path, "--label", "lable"), 3, "no label column 'lable'; did you mean 'label'?")
    refused(zoloss("fit", path, "--label", "7"), 3, "is not a column index; there are 3 columns")
    refused(zoloss("fit", path, "--positive", "w"), 3, "has no class 'w'; valid: x, y")
    refused(zoloss("fit", missing), 3, "there is no file", "did you mean 'mine.csv'?")
    refused(zoloss("fit", tmp_path), 3, "cannot be read: Is a directory")
    out = tmp_path / "out"
    ended = zoloss("evaluate", path, "--learners", "fld", "--train", "9", "--out", out)
    refused(ended, 3, "has 4 samples: too few for 9 to train")
    assert not out.exists()


def test_more_classes_than_a_learner_takes(zoloss, table, tmp_path, write_config):
    path, out = table(SEVERAL), ["--out", tmp_path / "out"]
    several = "or a multiclass learner (ecc, ecc-asymmetric, erp, one-vs-one, one-vs-all, ecoc, majority)"
    refused(
        zoloss("fit", path, "--learner", "pivot"),
        3,
        "3 classes (x, y, z), but 'pivot' supports only two",
        "--positive CLASS",
        several,
    )
    ended = zoloss("evaluate", path, "--learners", "ecc:stump,lr", *out)
    refused(ended, 3, "3 classes (x, y, z), but 'lr' supports only two: use --positive CLASS for one", several)
    many = table(FOURTEEN, "many.csv")
    cut = "is exact, for at most 13 classes, and y holds 14; use partition='greedy' instead"
    refused(zoloss("fit", many, "--learner", "ecc:stump"), 3, str(many), cut)
    refused(zoloss("evaluate", many, "--learners", "ecc:stump", *out), 3, cut)
    initial = ["--learner", "erp:stump", "--set", "initial=max-cut"]
    refused(zoloss("fit", many, *initial), 3, "use initial='greedy' instead")
    config = write_config("datasets: {own: {csv: many.csv}}\nlearners: {ecc: {base: stump}}\n")
    refused(zoloss("run", config, *out), 3, "data set 'own'", cut)
    assert not (tmp_path / "out").exists()
    assert zoloss("fit", many, "--learner", "ecc:stump", "--set", "partition=greedy").code == 0


def test_text_in_rows_that_are_left_out_does_not_count(zoloss, table):
    rows = [f"{i},{i % 3},{i % 5},{'xy'[i % 2]}" for i in range(12)]
    command = ["--learner", "fld", "--missing", "drop"]
    clean = zoloss("fit", table("\n".join(["a,b,c,label", *rows]) + "\n"), *command)
    ended = zoloss.ok("fit", table("\n".join(["a,b,c,label", "1,0. 49,,x", *rows]) + "\n"), *command)
    assert clean.out.partition("feature")[2]
    assert ended.out.rpartition("feature")[2] == clean.out.rpartition("feature")[2]


def test_all_complaints_come_at_once_with_the_command_that_answers_them(zoloss, table):
    rows = [[f"p{i}", str(i * 7 % 5), str(1000 + i), "", "xy"[i // 3 % 2]] for i in range(120)]
    rows[3][1] = rows[5][4] = rows[8][4] = ""
    text = "\n".join(map(",".join, [["the name", "size", "no", "empty", "label"], *rows])) + "\n"
    path = table(text, "my file.csv")
    ended = zoloss("fit", path, "--learner", "fld")
    expected = [
        f"{path}:7: the label column 'label' has no value (as in 1 more line)",
        f"{path}:5: column 'size' has no value; set missing to 'drop' to leave such rows out",
        f"{path}: column 'empty' has no values at all; leave it out with --drop",
        f"{path}:2: column 'the name' holds the text 'p0' and has 118 levels",
        f"{path}: column 'no' has a different whole number in every row, like an id",
        "correct the file where no option helps, then run: zoloss fit ",
    ]
    refused(ended, 3, *expected, faults=len(expected))
    words = shlex.split(ended.err.splitlines()[-1].partition("run: ")[2])
    drops = ["--drop", "empty", "--drop", "the name", "--drop", "no"]
    assert words == ["zoloss", "fit", str(path), "--learner", "fld", *drops, "--missing", "impute"]
    path.write_text(text.replace(",,\n", ",,x\n"))
    again = zoloss("evaluate", path, "--learners", "fld", "--label", "label")
    assert again.err.splitlines()[-1].startswith("zoloss: run: zoloss evaluate ")
    zoloss.ok(*words[1:])


def test_at_most_ten_complaints_are_shown(zoloss, table):
    rows = [[f"t{k}x{i}" for k in range(14)] + [f"{i % 3}", "xy"[i % 2]] for i in range(101)]
    header = [*(f"c{k}" for k in range(14)), "a", "label"]
    path = table("\n".join(map(",".join, [header, *[["z", *row[1:]] for row in rows]])) + "\n")
    ended = zoloss("fit", path, "--learner", "fld")
    refused(ended, 3, "'c10' holds the text", "and 3 more", faults=12)
    assert "'c11' holds" not in ended.err
    zoloss.ok(*shlex.split(ended.err.splitlines()[-1].partition("run: ")[2])[1:])
    ragged = table("a,label\n" + "1,x,2\n" * 13, "ragged.csv")
    refused(zoloss("fit", ragged), 3, ":2: 3 fields where", ":11: 3 fields", "and 3 more", faults=11)
