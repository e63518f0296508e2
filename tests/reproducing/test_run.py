"""`whence reproduce`: the quick scale from beginning to end, its ledger, and going on from what is saved."""

import json

import pandas as pd
import pytest

from support.command import whence
from whence.data.synthetic import clauses, numerals, reviews
from whence.reproducing import run as running
from whence.reproducing import study_files
from whence.reproducing.study_files import read

pytestmark = pytest.mark.usefixtures("figures_as_svg_alone")
SIZES = "embedding_size = 32, hidden_size = {}, layers = 1, learning_rate = {}, dropout = 0.0"
TRANSLATOR = SIZES.format(64, 0.005) + ", limit = 2000, epochs = 6"
SMALL_TRANSLATOR = SIZES.format(32, 0.015) + ", batch_size = 16, epochs = 4"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduced")


def smaller(name, folder, *replacements):
    """A copy of a study's file that trains less."""
    text = (study_files.folder() / f"{name}.toml").read_text(encoding="utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def translations(out, monkeypatch):
    """Two small translators, of which only the first is retrained."""
    monkeypatch.setattr(numerals, "SIZES", {"train": 1000, "dev": 40, "test": 60})
    ablation = "options.ablation = { retrain = 1, limit = 200, draws = 1 }"
    first, second = (
        f'attention = "{kind}", data = "numerals", {SMALL_TRANSLATOR} }}\n' for kind in ("additive", "dot")
    )
    return smaller(
        "vashishth2019",
        out,
        (TRANSLATOR, SMALL_TRANSLATOR),
        (first + ablation, first + 'options.ablation = { retrain = 1, draws = 1, retrained = ["uniform"] }'),
        (second + ablation, second + "options.ablation = { draws = 1 }"),
    )


def test_a_table_is_run_printed_and_entered_in_the_ledger(out, translations, capsys):
    page = out / "page.md"
    said = whence(capsys, "reproduce", translations, "--only", "Table 3", "--out", out, "--ledger", page, "--quiet")
    assert said.code == 0
    assert "Table 3  Bahdanau  Multi30k  BLEU" in said.out
    assert (
        "[Attention Interpretability Across NLP Tasks (Vashishth et al. 2019)](page/vashishth2019.md)"
        in page.read_text()
    )
    text = (out / "page" / "vashishth2019.md").read_text(encoding="utf-8")
    assert text.startswith("# Attention Interpretability")
    assert "| Bahdanau | Multi30k | uniform, train+infer | -10.4 |" in text
    assert "needs the Yelp 2017 reviews" in text
    table = pd.read_csv(out / "page" / "vashishth2019.csv")
    study = read("vashishth2019")
    own = sum(len(figure.number) * len(figure.cases) for figure in study.figure if not figure.published)
    assert len(table) == 6 * sum(len(figure.published) for figure in study.figure) + own
    ours = table[table["ours"].notna()].set_index(["system", "quantity"])["ours"]
    assert ours["Bahdanau", "BLEU"] > 80, "numbers are learned within minutes"
    assert ours["Bahdanau", "uniform, train+infer"] < -20, "a translator needs its attention"
    assert ours["Luong", "permuted, infer"] < -20
    assert "](figures/vashishth2019-figure-1.svg)" in text
    assert (out / "page" / "figures" / "vashishth2019-figure-1.svg").exists()


def test_what_is_saved_is_not_run_again_and_the_rest_of_the_page_stays(out, translations, capsys, monkeypatch):
    monkeypatch.setattr(running, "run_experiment", None)
    page = out / "page.md"
    page.write_text("Before.\n\n" + page.read_text(encoding="utf-8") + "\nAfter.\n", encoding="utf-8")
    said = whence(capsys, "reproduce", translations, "--saved", "--out", out, "--ledger", page, "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert {row["where"] for row in found["rows"]} == {"Table 3"}
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.")
    assert text.endswith("\nAfter.\n")
    assert text.count("summary: begin") == 1
    assert "| Bahdanau | Multi30k | uniform, train+infer | -10.4 |" in (out / "page" / "vashishth2019.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["vashishth201"], "Did you mean vashishth2019?"),
        (["vashishth2019", "--only", "Table 9"], "has no 'Table 9'"),
        (["vashishth2019", "--scale", "huge"], "huge"),
        (["vashishth2019", "--ledger", "folder"], "a file that ends in .md"),
        (["vashishth2019", "--scale", "full", "--only", "SST, Bahdanau", "--data-dir", "nowhere"], "word vectors"),
    ],
)
def test_mistakes_get_a_sentence(arguments, complaint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = whence(capsys, "reproduce", *arguments)
    assert said.code == 2
    assert complaint in said.err
    assert not list(tmp_path.iterdir())


def test_without_a_study_those_there_are_are_listed(capsys):
    said = whence(capsys, "reproduce")
    assert said.code == 2
    assert "vashishth2019" in said.out


def test_a_mode_of_a_study_is_run_with_what_its_figures_measure(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(reviews, "SIZES", {"train": 1000, "dev": 60, "test": 200})
    page = tmp_path / "page.md"
    said = whence(capsys, "reproduce", "wu2020", "--mode", "corrected", "--out", tmp_path, "--ledger", page, "--quiet")
    assert said.code == 0
    assert "section 6.4, Fig. 5  LAT, corrected  SST-5  b2 of lat" in said.out
    lines = pd.read_csv(tmp_path / "page" / "wu2020.csv").set_index(["system", "quantity"])
    assert lines.loc[("Self-attention (theirs), corrected", "accuracy"), "ours"].item() > 60
    assert set(lines.loc["head 8, corrected", "status"]) == {"other data"}
    assert set(lines.loc["head 8, paper", "status"]) == {"not run: needs time"}
    text = (tmp_path / "page" / "wu2020.md").read_text(encoding="utf-8")
    for name in ("table-1", "fig-4", "section-64-fig-5", "fig-6"):
        assert f"(figures/wu2020-{name}-sst-5-corrected.svg)" in text
        assert (tmp_path / f"page/figures/wu2020-{name}-sst-5-corrected.svg").exists()


def test_attention_compared_with_trees_by_epoch_with_the_papers_four_figures_and_known_answers(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(clauses, "SIZES", {"train": 3000, "dev": 100, "test": 120})
    study = smaller("varano2019", tmp_path, ("epochs = 2, learning_rate", "limit = 500, epochs = 2, learning_rate"))
    page = tmp_path / "page.md"
    said = whence(capsys, "reproduce", study, "--out", tmp_path, "--ledger", page, "--quiet")
    assert said.code == 0
    assert "Fig. 2  DiSAN, DiSAN-50  SNLI validation  change of KL to true, sees future" in said.out
    lines = pd.read_csv(tmp_path / "page" / "varano2019.csv").set_index(["where", "system", "quantity"])
    assert set(lines["status"]) - {"model did not learn"} <= {  # 500 sentences teach a model on some processors only
        "other data",
        "control",
        "not run: needs a saved encoder and the treebank: --scale full",
    }
    alarms, known = lines.loc["False alarms"]["ours"], lines.loc["Known answer"]["ours"]
    assert alarms.xs("models with such a head, %", level="quantity").tolist() == [0, 0]
    assert known["Transformer", "models with such a head, %"] == 100
    assert known["Transformer", "KL to true less to the nearest random, surest head"] < -0.5
    assert (
        known["Transformer", "parents found by the best head, %"]
        > 5 + known["Transformer", "parents found by the best offset, %"]
    )
    text = (tmp_path / "page" / "varano2019.md").read_text(encoding="utf-8")
    for name in (
        "fig-1-snli-disan-50",
        "fig-2-snli-disan-50",
        "better-baselines-snli-disan-50",
        "fig-4-snli-disan-50",
        "known-answer-parents-transformer",
        "false-alarms-untrained-disan",
    ):
        assert f"(figures/varano2019-{name}.svg)" in text
        assert (tmp_path / f"page/figures/varano2019-{name}.svg").exists()


def test_attention_that_guides_a_model_of_single_words(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(clauses, "SIZES", {"train": 2000, "dev": 100, "test": 100})
    compared = 'into = "words", sources = ["base", "uniform", "permuted"], limit'
    study, page = smaller("yang2019", tmp_path, ('into = "words", limit', compared)), tmp_path / "page.md"
    said = whence(
        capsys, "reproduce", study, "--only", "the stricter probe", "--out", tmp_path, "--ledger", page, "--quiet"
    )
    assert said.code == 0
    lines = pd.read_csv(tmp_path / "page" / "yang2019.csv").set_index(["where", "quantity"])
    guided = lines["ours"].xs("the stricter probe")
    assert guided["share under base"] > guided["share under uniform"] + 0.3, "a word's neighbours tell its chunk"
    assert guided["share under base"] > guided["share under permuted"] + 0.3
    assert set(lines.loc["the stricter probe", "status"]) == {"control"}
    assert (tmp_path / "page/figures/yang2019-the-stricter-probe-conll-2000-author-code.svg").exists()
    study = read("yang2019")
    assert len(lines) == sum(len(figure.cases) * len(figure.number) for figure in study.figure)
    assert {case.mode for case in study.case} >= {"paper", "author-code", "corrected"}


def test_explainers_where_the_answer_is_known_stand_in_a_table(tmp_path, capsys):
    page, only = tmp_path / "page.md", "Known answers, stories"
    said = whence(capsys, "reproduce", "mrini2019", "--only", only, "--out", tmp_path, "--ledger", page, "--quiet")
    assert said.code == 0
    text = (tmp_path / "page" / "mrini2019.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = {row[0]: [float(cell) for cell in row[1:]] for row in rows[2:]}
    assert rows[0][:2] == ["method", "precision at their number"]
    assert min(found["raw_attention"]) > 0.9, "attention is the only road to the one word that decides"
    assert found["random"][0] < 0.5
    assert "stories, additive, rationales: By raw_attention, marked words come earlier than by chance" in said.out
    assert "published" not in said.out, "the paper prints no numbers"
    assert "*Reproduced*" not in text
    assert not (tmp_path / "page/mrini2019.csv").exists()
    assert (tmp_path / "page/figures/mrini2019-known-answers-stories-stories-additive.svg").exists()


def test_a_mode_that_is_not_there_gets_a_sentence(capsys):
    said = whence(capsys, "reproduce", "wu2020", "--mode", "wrong")
    assert said.code == 2
    assert "it has: paper, author-code, corrected" in said.err
    said = whence(capsys, "reproduce", "vashishth2019", "--mode", "paper")
    assert "it has: corrected" in said.err
