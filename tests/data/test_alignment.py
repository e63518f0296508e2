import hashlib
import json
from dataclasses import asdict

import pytest

from whence.core.errors import BadData
from whence.data.embedded import stories
from whence.data.examples import Corpus, Example


def test_a_corpus_without_alignments_windows_or_trees_has_the_checksum_it_had_before_there_were_any():
    corpus = stories.load(sizes={"train": 12, "test": 6})
    digest = hashlib.sha256()
    for split, examples in corpus.splits.items():
        digest.update(split.encode())
        for example in examples:
            held = asdict(example)
            for later in ("alignment", "windows", "values", "heads", "relations", "pair_heads"):
                del held[later]
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
