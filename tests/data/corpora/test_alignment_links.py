import hashlib
import json
from dataclasses import asdict

import pytest

from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.synthetic import stories
from whence.data.tables.reader import Columns, read_table


def test_a_corpus_without_alignments_windows_or_trees_has_the_checksum_it_had_before_there_were_any():
    corpus = stories.load(sizes={"train": 12, "test": 6})
    digest = hashlib.sha256()
    for split, examples in corpus.splits.items():
        digest.update(split.encode())
        for example in examples:
            held = asdict(example)
            for later in ("alignment", "windows", "values", "heads", "relations", "pair_heads", "features"):
                del held[later]
            del held["pair_rationale"]
            digest.update(json.dumps(held, ensure_ascii=False, sort_keys=True).encode())
    assert corpus.checksum == digest.hexdigest()


def test_alignments_count_in_the_checksum():
    one, other = (
        Corpus("c", {"test": (Example("a b", words=("a", "b"), target="x y", alignment=links),)})
        for links in (((0, 0), (1, 1)), ((0, 1), (1, 0)))
    )
    assert one.checksum != other.checksum


@pytest.mark.parametrize("link", [(2, 0), (0, 1), (-1, 0), (0, -1)])
def test_a_link_must_point_to_words(link):
    with pytest.raises(BadData, match="there are 2 words and 1 words in the target"):
        Example("a b", words=("a", "b"), target="x", alignment=(link,))


def test_a_table_may_have_a_column_of_links(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("text,said,links\na b,x y,0-1 1-0\nc,z,\n", encoding="utf-8")
    named = Columns(target="said", alignment="links")
    corpus = read_table(path, named)
    (examples,) = corpus.splits.values()
    assert [(e.words, e.target, e.alignment) for e in examples] == [
        (("a", "b"), "x y", ((0, 1), (1, 0))),
        (("c",), "z", ()),
    ]
    path.write_text("text,said,links\na b,x y,0-1 1:0\n", encoding="utf-8")
    with pytest.raises(BadData, match=r"column 'links' must hold links like 0-0 1-2.*row 1"):
        read_table(path, named)
    path.write_text("text,said,links\na b,x y,0-2\n", encoding="utf-8")
    with pytest.raises(BadData, match=r"row 1: the alignment has \(0, 2\)"):
        read_table(path, named)
