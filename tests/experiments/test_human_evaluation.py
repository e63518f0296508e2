"""Human evaluation: Figure 5 by hand, agreement as the libraries have it, verdicts whose answer is known."""

from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from support import saved_models, studies
from whence.analysis.human_evaluation import (
    COLUMNS,
    agreement,
    checks_passed,
    judged,
    left_out,
    quantities,
    same_again,
    summary,
)
from whence.analysis.human_evaluation_verdict import verdict
from whence.annotation.answers import Answer, AnswerFile
from whence.annotation.power import Assumed, power, simulated_table
from whence.annotation.prepare import Design, prepare
from whence.annotation.rows import made_rows, rows_of
from whence.annotation.study import Item, Secret, read_study, save_study
from whence.annotation.synthetic import Annotator, simulate_study
from whence.core.errors import BadConfig, BadData
from whence.evaluation.runner import run_experiment
from whence.experiments import human_evaluation
from whence.results.store import Store

# by hand: items in turn of raw_attention and permuted; the prediction is wrong for items 0, 3 and 6
FIRST, SECOND = "yynnynyn", "ynnsynyn"
#               attention: items 0 2 4 6 -> a: y n y y, b: y n y y; permuted: items 1 3 5 7 -> a: y n n n, b: n - n n


def table(made, *letters, names="abcdef"):
    given = {name: studies.answers(made, one) for name, one in zip(names, letters, strict=False)}
    return COLUMNS.table(made_rows(made, given))


def test_figure_5_by_hand():
    rows = summary(table(studies.study(), FIRST, SECOND)).set_index("condition")
    assert rows["answers"].to_dict() == {"raw_attention": 8, "permuted": 7}
    assert rows["mean"].to_dict() == pytest.approx({"raw_attention": 0.75, "permuted": 0.125})
    cells = ["right, relevant %", "right, not relevant %", "wrong, relevant %", "wrong, not relevant %"]
    assert rows.loc["raw_attention", cells].tolist() == pytest.approx([25.0, 25.0, 50.0, 0.0])
    assert rows.loc["permuted", cells].tolist() == pytest.approx([12.5, 62.5, 0.0, 25.0])


def test_quantities_are_the_cells_and_the_agreement():
    found = quantities(table(studies.study(), FIRST, SECOND))
    assert found["raw_attention: wrong, relevant"].mean == pytest.approx(50.0)
    assert found["raw_attention above permuted"].mean == pytest.approx(0.625)
    a, b = ([one == "y" for one in letters] for letters in ("yynynyn", "ynnynyn"))  # without the item that b skipped
    assert found["kappa"].mean == pytest.approx(cohen_kappa_score(a, b))


def test_agreement_of_three_annotators_with_missing_answers_is_the_library_s():
    letters = ("yynnynyn", "ynnsynys", "syynnnyy")
    found = agreement(judged(table(studies.study(), *letters)))
    codes = [[{"y": 1.0, "n": 0.0, "s": np.nan}[one] for one in line] for line in letters]
    assert set(found) == {"alpha"}
    assert found["alpha"].mean == pytest.approx(krippendorff.alpha(codes, level_of_measurement="nominal"))


def test_marked_words_agree_word_by_word():
    made = studies.study("marking")
    other = {item.id: Answer(item.id, "marked", ((0, 1), (0, 2))) for item in made.items}
    rows = table(made, "mmmmmmmm")
    both = COLUMNS.table(made_rows(made, {"a": studies.answers(made, "mmmmmmmm"), "b": other}))
    marks = [[float(mark) for one in rows_ for mark in one] for rows_ in marks_of(both)]
    assert agreement(judged(both))["alpha"].mean == pytest.approx(
        krippendorff.alpha(marks, level_of_measurement="nominal")
    )
    assert agreement(judged(both))["kappa"].mean == pytest.approx(cohen_kappa_score(*marks))
    assert agreement(judged(rows)) == {}


def marks_of(rows):
    each = rows.drop_duplicates(["annotator", "item"]).sort_values(["annotator", "item"])
    return [each[each["annotator"] == name]["marks"].tolist() for name in ("a", "b")]


def test_marked_words_are_found_early_by_hand():
    """The scores of raw_attention rise from word to word; the second and the last word of ten are marked."""
    rows = table(studies.study("marking"), "mmmmmmmm")
    own = rows[rows["condition"] == "raw_attention"].set_index("item")["value"]
    assert own["item00"] == pytest.approx((1 + 2 / 9) / 2)
    even = rows[rows["condition"] == "random"].set_index("item")["value"]
    assert even["item00"] == pytest.approx(0.2)  # all scores equal: the share that is marked


def test_preferences_count_for_the_method_wherever_it_stands():
    """Of even items raw_attention is the second panel, of odd ones the first."""
    rows = table(studies.study("preference"), "2121210s").set_index("item")
    assert rows["value"].tolist()[:7] == [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]
    assert np.isnan(rows["value"]["item07"])
    assert set(zip(rows["condition"], rows["against"], strict=True)) == {("raw_attention", "random")}


def with_checks(made):
    """The same with five checks and two repeats of the first items."""
    checks = [Item(f"check{n}", (("please",),), "positive", (((0, 0),),)) for n in range(5)]
    again = [replace(item, id=f"again{n}") for n, item in enumerate(made.items[:2])]
    secrets = {one.id: Secret(-1, (), check="no") for one in checks}
    secrets |= {one.id: replace(made.key()[made.items[n].id], repeats=made.items[n].id) for n, one in enumerate(again)}
    return replace(made, items=(*made.items, *checks, *again), secrets={**made.key(), **secrets})


def test_who_fails_more_than_a_fifth_of_the_checks_is_left_out():
    rows = table(with_checks(studies.study()), FIRST + "nnnny" + "yy", FIRST + "nnnyy" + "ny")
    assert left_out(rows) == ["b"]
    assert set(judged(rows)["annotator"]) == {"a"}
    assert len(judged(rows)) == 8
    assert checks_passed(rows).mean == pytest.approx(0.7)
    assert "b failed too many checks and is left out" in verdict(rows).sentence


def test_where_everybody_failed_the_checks_nothing_is_said():
    rows = table(with_checks(studies.study()), FIRST + "yyyyy" + "yy")
    found = verdict(rows)
    assert found.answer == "undecided"
    assert found.sentence.startswith("No answers count")
    assert human_evaluation.figure(rows) is not None
    assert summary(rows).empty


def test_repeats_are_compared_within_annotators():
    rows = table(with_checks(studies.study()), FIRST + "nnnnn" + "yy", FIRST + "nnnnn" + "yn")
    assert same_again(rows).mean == pytest.approx(3 / 4)
    assert len(judged(rows)) == 16


@pytest.mark.parametrize(
    ("method", "control", "person", "answer"),
    [
        (0.84, 0.12, Annotator(), "yes"),  # Vashishth et al. 2019, IMDB
        (0.12, 0.12, Annotator(), "no"),
        (0.84, 0.12, Annotator(0.5, 0.5), "undecided"),  # answers at random
    ],
    ids=["relevant", "as the control", "at random"],
)
def test_verdicts_of_known_answer_at_the_paper_s_size(method, control, person, answer):
    (found,) = power(Assumed(method, control, person), [100], 2, 20)
    assert found.answers[answer].mean >= 19 / 20


def test_shares_and_kappa_are_those_that_are_known():
    person, seeds = Annotator(0.9, 0.8), range(20)
    tables = [simulated_table(Assumed(0.7, 0.3, person), 100, 2, seed) for seed in seeds]
    shares = [summary(one).set_index("condition")["mean"] for one in tables]
    assert np.mean([one["method"] for one in shares]) == pytest.approx(person.expected_share(0.7), abs=0.03)
    assert np.mean([one["control"] for one in shares]) == pytest.approx(person.expected_share(0.3), abs=0.03)
    kappas = [agreement(judged(one))["kappa"].mean for one in tables]
    assert np.mean(kappas) == pytest.approx(person.expected_kappa(0.5), abs=0.04)


def test_simulated_annotators_are_named_everywhere_and_answer_no_question(tmp_path):
    made = studies.study(n=80)
    save_study(made, tmp_path)
    names = simulate_study(tmp_path, made, {"raw_attention": 0.9, "permuted": 0.1}, [Annotator()] * 2, seed=0)
    assert names == ["synthetic-1", "synthetic-2"]
    rows = COLUMNS.table(rows_of(tmp_path))
    assert rows["synthetic"].all()
    found = verdict(rows)
    assert (found.question, found.answer) == (0, "yes")
    assert found.sentence.startswith("Simulated annotators, no people")
    assert found.procedure.startswith("Simulated annotators, no people")
    assert "Simulated annotators" in human_evaluation.figure(rows).get_suptitle()


def test_people_and_simulations_are_not_analysed_together(tmp_path):
    made = studies.study()
    save_study(made, tmp_path)
    simulate_study(tmp_path, made, {"raw_attention": 0.9, "permuted": 0.1}, [Annotator()], seed=0)
    AnswerFile(tmp_path, made, "ada").append([Answer("item00", "yes")])
    with pytest.raises(BadData, match="not analysed together"):
        rows_of(tmp_path)
    with pytest.raises(BadData, match="holds answers already"):
        simulate_study(tmp_path, made, {"raw_attention": 0.9, "permuted": 0.1}, [Annotator()], seed=0)


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A study of a real model, answered by two who find all words of attention relevant and none of the control's."""
    folder = tmp_path_factory.mktemp("answered") / "study"
    whole = tuple(saved_models.corpus()["test"])
    assert len(whole) > 60
    data = tmp_path_factory.mktemp("data") / "reviews.csv"
    lines = [f'"{example.text}",{example.label}' for example in whole[:80]]
    data.write_text("\n".join(["text,label", *lines]) + "\n")
    prepare(Design(model=str(saved_models.bert()), data=str(data), out=folder, items=30), quiet=True)
    study = read_study(folder)
    for name, odd in (("a", 3), ("b", 4)):
        given = [
            Answer(
                item.id,
                "yes" if (study.key()[item.id].conditions == ("raw_attention",)) != (at == odd) else "no",
                seconds=3.0,
            )
            for at, item in enumerate(study.items)
        ]
        AnswerFile(folder, study, name).append(given)
    return folder, data


def test_the_experiment_reads_a_study_of_its_model(answered, tmp_path):
    folder, data = answered
    given = {"model": str(saved_models.bert()), "data": str(data), "annotations": folder}
    config = human_evaluation.Config(**given)
    result = run_experiment("human_evaluation", config, Store(tmp_path), quiet=True)
    found = result.verdict()
    assert (found.question, found.answer) == (6, "yes")
    assert "raw_attention are judged relevant more often than those of permuted" in found.sentence
    assert len(result.table) == 120
    study = read_study(folder)
    AnswerFile(folder, study, "a").append([Answer(study.items[0].id, "skip")])
    again = run_experiment("human_evaluation", config, Store(tmp_path), quiet=True)
    assert again.manifest["cache_key"] != result.manifest["cache_key"]  # new answers are a new result
    other = human_evaluation.Config(**{**given, "model": str(saved_models.additive())})
    with pytest.raises(BadData, match="another model"):
        run_experiment("human_evaluation", other, Store(tmp_path), quiet=True)
    none = human_evaluation.Config(**{**given, "annotations": None})
    with pytest.raises(BadConfig, match="--annotations"):
        run_experiment("human_evaluation", none, Store(tmp_path), quiet=True)


def test_the_audit_takes_the_annotators_answers_for_question_6(answered, tmp_path):
    from whence.auditing.run import audit
    from whence.auditing.settings import Settings

    folder, data = answered
    others = ("ablation", "permutation", "faithfulness", "instance_adversary", "controls", "seeds", "adversary")
    settings = Settings(
        model=str(saved_models.bert()), data=str(data), out=tmp_path, budget=2, annotations=folder, skip=others
    )
    finished = audit(settings, quiet=True, say=lambda text: None)
    (verdicts,) = finished.verdicts.values()
    assert verdicts[6].answer == "yes"
    page = finished.report.read_text()
    assert "judged relevant more often than those of permuted" in page
    with pytest.raises(BadData, match="another model"):
        audit(settings.model_copy(update={"model": str(saved_models.additive())}), quiet=True, say=lambda text: None)
