import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.core.errors import BadConfig, BadData
from whence.data.corpora import sst
from whence.data.examples import Corpus
from whence.data.registry import load

TREES = """(3 (2 It) (4 (2 works) (2 .)))
(2 (2 Plain) (2 fare))
(0 (0 Bad) (2 (2 -LRB-) (2 (2 1\\/2) (2 -RRB-))))
"""

words = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], blacklist_characters="()"), min_size=1
)
labels = st.integers(0, 4)
trees = st.recursive(
    st.builds(lambda label, word: sst.Tree(label, word=word), labels, words),
    lambda inner: st.builds(
        lambda label, parts: sst.Tree(label, tuple(parts)), labels, st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def written(tree: sst.Tree) -> str:
    return f"({tree.label} {tree.word or ' '.join(map(written, tree.children))})"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sst").mkdir()
    for split in ("train", "dev", "test"):
        (tmp_path / "sst" / f"{split}.txt").write_text(TREES, encoding="utf-8")
    return tmp_path


@pytest.mark.filterwarnings("ignore:Do not use the .random. module")  # the type checker draws items to check
@given(trees)
def test_a_written_tree_is_read_again(tree):
    assert sst.parse_tree(written(tree)) == tree


def test_nodes_come_from_the_top_and_from_the_left(folder):
    tree = sst.read_trees(folder / "sst" / "dev.txt")[0]
    assert [node.label for node in tree.nodes()] == [3, 2, 4, 2, 2]
    assert tree.words() == ("It", "works", ".")


def test_a_word_may_hold_a_hard_space():
    assert sst.parse_tree("(2 8\xa01/2)").words() == ("8\xa01/2",)


def test_binary_drops_neutral_sentences_and_says_so(folder):
    corpus = sst.load(folder)
    assert [(e.text, e.label) for e in corpus["dev"]] == [("It works .", "positive"), ("Bad ( 1/2 )", "negative")]
    assert corpus["dev"][1].words == ("Bad", "(", "1/2", ")")
    assert "dropped sentences rated neutral: 1 of train, 1 of dev, 1 of test" in corpus.notes


def test_fine_keeps_all_five(folder):
    assert [e.label for e in sst.load(folder, "fine")["test"]] == ["positive", "neutral", "very negative"]


def test_longer_than_is_strict(folder):
    corpus = sst.load(folder, longer_than=3)
    assert [len(e.words) for e in corpus["train"]] == [4]
    assert "dropped sentences of 3 words or fewer: 1 of train, 1 of dev, 1 of test" in corpus.notes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("(3 (2 a) (2 b)", "1 brackets are not closed"),
        ("(3 (2 a)) (2 b)", "follows after the tree has been closed"),
        ("3 a", "a bracket was expected; got '3'"),
        ("(5 a)", "a label from 0 to 4 was expected; got '5'"),
        ("((2 a))", "a label from 0 to 4 was expected; got 'a phrase'"),
        ("(2)", "one word or phrases were expected after label 2"),
        ("(2 a b)", "there are 2 parts"),
        ("(2 a (2 b))", "there are 2 parts"),
        ("()", "a label from 0 to 4 was expected"),
    ],
)
def test_a_malformed_tree_is_said_with_its_line(tmp_path, line, says):
    path = tmp_path / "dev.txt"
    path.write_text(f"(2 fine)\n\n{line}\n", encoding="utf-8")
    with pytest.raises(BadData, match=r"dev\.txt, line 3: ") as raised:
        sst.read_trees(path)
    assert says in str(raised.value)


def test_an_unknown_task_is_refused(folder):
    with pytest.raises(BadConfig, match="sst has the tasks binary and fine; 'both' is neither"):
        sst.load(folder, "both")


@pytest.fixture(scope="module")
def real() -> dict[Path, list[sst.Tree]]:
    """The trees of the real files, read once: checked call by call, half a million nodes take their time."""
    folder = Path(os.environ.get("WHENCE_DATA", "/nowhere")) / "sst"
    if not folder.is_dir():
        pytest.skip("WHENCE_DATA has no folder sst")
    return {path: sst.read_trees(path) for path in (folder / f"{split}.txt" for split in ("train", "dev", "test"))}


@pytest.fixture
def load_real(real, monkeypatch) -> Callable[..., Corpus]:
    monkeypatch.setattr(sst, "each_tree", lambda path: iter(real[path]))
    return load


def test_the_real_treebank_has_the_published_root_labels(load_real):
    fine = load_real("sst:fine")
    published = {
        "train": (1092, 2218, 1624, 2322, 1288),
        "dev": (139, 289, 229, 279, 165),
        "test": (279, 633, 389, 510, 399),
    }
    for split, numbers in published.items():
        counted = Counter(e.label for e in fine[split])
        assert tuple(counted[name] for name in fine.labels) == numbers
    assert not any("official" in note for note in fine.notes)


def test_the_real_treebank_in_two_classes_has_the_published_sizes(load_real):
    binary = load_real("sst")
    assert [len(binary[split]) for split in ("train", "dev", "test")] == [6920, 872, 1821]
    assert all(" ".join(e.words) == e.text and "-LRB-" not in e.text for e in binary["train"])
    longer = load_real("sst", longer_than=5)
    assert longer["test"] == tuple(e for e in binary["test"] if len(e.words) > 5)


def test_every_node_of_the_real_treebank_is_read(real):
    for path, trees in real.items():
        assert sum(1 for tree in trees for _ in tree.nodes()) == path.read_text(encoding="utf-8").count("(")


def test_the_words_of_the_real_treebank(load_real, real):
    folder = next(iter(real)).parent.parent
    found = sst.word_labels(folder)
    assert len(found) == 19_538
    assert {word: found[word] for word in ("terrific", "worst", "the")} == {"terrific": 4, "worst": 0.5, "the": 2}
