"""`medlink map`: what is said; what it writes is tested in tests/mapping."""


def test_a_table(run, tiny_assets, tmp_path):
    terms, out = tmp_path / "terms.csv", tmp_path / "out.csv"
    terms.write_bytes("Code;Bezeichnung\n1;fièvre\n2;\n3;Asthma\n".encode("cp1252"))
    given = ("map", terms, "--to", tiny_assets.path, "--output", out)
    result = run(*given, expect=3)
    assert ": 1 lines are not UTF-8" in result.stderr
    assert "1 rows set aside: no name (the first is row 3)." in result.stderr
    assert result.stdout == f"2 terms: 2 exact, 0 probable, 0 without: {out}\n"
    out.write_text(out.read_text().replace("UNCHECKED", "APPROVED", 1))
    result = run(*given, expect=3)
    assert "Reviewed before: 1 kept; 0 for terms" in result.stdout
    assert "Mapped again: 1 as before, 0 changed, 0 new." in result.stdout


def test_columns(run, tiny_assets, tmp_path):
    terms, out = tmp_path / "terms.csv", tmp_path / "out.csv"
    terms.write_text("what,key,times,ward,site\nfever,7,3,B 2,knee\n")
    columns = "name=what, code=key,frequency=times,context=ward,context=site"
    run("map", terms, "--to", tiny_assets.path, "--output", out, "--columns", columns)
    header, row = (line.split(",")[:5] for line in out.read_text().replace('"', "").splitlines())
    assert header[3:] == ["context:ward", "context:site"]
    assert row == ["7", "fever", "3", "B 2", "knee"]


def test_a_knowledge_base(run, tiny_assets, tiny_kb, tmp_path):
    out = tmp_path / "out.sssom.tsv"
    result = run("map", tiny_kb.path, "--to", tiny_assets.path, "--output", out)
    assert f"{len(tiny_kb)} terms: {len(tiny_kb)} exact" in result.stdout


def test_usage(run, fail, tiny_assets, tmp_path):
    end = ("--to", tiny_assets.path, "--output", tmp_path / "out.csv")
    terms = tmp_path / "terms.csv"
    terms.write_text("name\nfever\n")
    run("map", *end, expect=2)
    run("map", terms, *end, "--approved", expect=2)
    run("map", terms, *end, "--as", "xls", expect=2)
    said = fail("E615", "map", terms, *end, "--columns", "code=c")
    assert "Name the right one with `--columns code=HEADER`" in said
    run("map", terms, *end, "--columns", "id=name", expect=2)
    fail("E107", "map", tmp_path / "none.csv", *end)
    assert not (tmp_path / "out.csv").exists()
