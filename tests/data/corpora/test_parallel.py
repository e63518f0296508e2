import gzip

import pytest

from support.corpora import real, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora import multi30k, news_commentary
from whence.data.corpora.shared.parallel import read_segments
from whence.data.registry import load

SGM = """<srcset setid="newstest" srclang="any">
<doc docid="1"><hl>
<seg id="1">Rock &amp; &quot;roll&quot; is {}</seg>
</hl>
<p>
<seg id="2"> Second one </seg>
<SEG ID="3">Third</SEG>
</p></doc></srcset>
"""


@pytest.fixture
def captions(tmp_path):
    for name in multi30k.FILES:
        written(
            tmp_path / "multi30k", name, "A dog.\n\nTwo cats.\n" if ".en" in name else "Ein Hund.\n\nZwei Katzen.\n"
        )
    return tmp_path


def test_captions_with_their_translations(captions):
    corpus = multi30k.load(captions)
    assert [(e.text, e.target) for e in corpus["dev"]] == [("A dog.", "Ein Hund."), ("Two cats.", "Zwei Katzen.")]
    assert "dropped 1 pairs of val.en.gz with nothing on one side" in corpus.notes
    turned = load("multi30k:de-en", data_dir=captions)
    assert [(e.text, e.target) for e in turned["dev"]] == [("Ein Hund.", "A dog."), ("Zwei Katzen.", "Two cats.")]
    assert turned.name == "multi30k:de-en"
    assert "train.en.gz is not the official file, by its sha256" in turned.notes


def test_unpacked_captions_are_read_too(captions):
    packed = captions / "multi30k" / "val.en.gz"
    written(captions / "multi30k", "val.en", gzip.decompress(packed.read_bytes()))
    packed.unlink()
    assert len(multi30k.load(captions)["dev"]) == 2


def test_lines_must_match(captions):
    written(captions / "multi30k", "val.de.gz", "Ein Hund.\n")
    with pytest.raises(BadData, match=r"val\.en\.gz has 3 lines and .*val\.de\.gz has 1; line by line"):
        multi30k.load(captions)
    written(captions / "multi30k", "val.de.gz", "")
    with pytest.raises(BadData, match=r"val\.de\.gz is empty"):
        multi30k.load(captions)
    with pytest.raises(BadConfig, match="the direction must be en-de or de-en; it is 'fr-en'"):
        multi30k.load(captions, "fr-en")
    with pytest.raises(BadData, match="multi30k is not in"):
        load("multi30k", data_dir=captions / "elsewhere")


@pytest.fixture
def aligned(tmp_path):
    folder = tmp_path / "multi30k" / "aligned_tok"
    written(folder, "dev.en-de.src.gz", "a big dog\nhe runs\n\n")
    written(folder, "dev.en-de.trg", "ein großer Hund\ner rennt weg\n\n")
    written(folder, "dev.en-de.align.gz", "1-1 0-0 2-2 3-2\n0-0 1-1 1-2 0-3\n\n")
    return tmp_path


def test_links_past_the_end_are_dropped_and_counted(aligned):
    read = multi30k.read_alignments(aligned, "dev")
    assert read.dropped == 2
    assert [(e.words, e.target, e.alignment) for e in read.examples] == [
        (("a", "big", "dog"), "ein großer Hund", ((0, 0), (1, 1), (2, 2))),
        (("he", "runs"), "er rennt weg", ((0, 0), (1, 1), (1, 2))),
    ]
    turned = multi30k.read_alignments(aligned, "dev", "de-en").examples[1]
    assert (turned.words, turned.alignment) == (("er", "rennt", "weg"), ((0, 0), (1, 1), (2, 1)))


def test_aligned_captions_are_a_corpus(captions, aligned):
    folder = aligned / "multi30k" / "aligned_tok"
    for split in ("train", "test"):
        for ending, line in (("src", "a dog\n"), ("trg", "ein Hund\n"), ("align", "0-0 1-1\n")):
            written(folder, f"{split}.en-de.{ending}", line)
    corpus = load("multi30k:aligned", data_dir=aligned)
    assert (corpus.name, {split: len(e) for split, e in corpus.splits.items()}) == (
        "multi30k:aligned",
        {"train": 1, "dev": 2, "test": 1},
    )
    assert "dropped 2 links that point past a sentence" in corpus.notes
    assert "links: automatic, as Pruthi et al. (2020) give them out" in corpus.notes
    turned = load("multi30k:aligned-de-en", data_dir=aligned)
    assert turned["test"][0].words == ("ein", "Hund")
    assert turned.name == "multi30k:aligned-de-en"


def test_captions_without_their_alignments(captions):
    with pytest.raises(BadData, match=r"no folder .*aligned_tok with word alignments"):
        load("multi30k:aligned", data_dir=captions)


def test_what_is_wrong_with_alignments_is_said(aligned):
    folder = aligned / "multi30k" / "aligned_tok"
    written(folder, "dev.en-de.align.gz", "0-0\n0:1\n\n")
    with pytest.raises(BadData, match=r"align\.gz, line 2: links like 0-0 1-2 were expected; got '0:1'"):
        multi30k.read_alignments(aligned, "dev")
    written(folder, "dev.en-de.align.gz", "0-0\n")
    with pytest.raises(BadData, match="have 3, 3 and 1 lines"):
        multi30k.read_alignments(aligned, "dev")
    with pytest.raises(BadData, match=r"there is no file .*test\.en-de\.src"):
        multi30k.read_alignments(aligned, "test")
    with pytest.raises(BadConfig, match="got 'val' and 'en-de'"):
        multi30k.read_alignments(aligned, "val")


@pytest.fixture
def commentary(tmp_path):
    for name in news_commentary.TRAIN:
        written(tmp_path / "news_commentary", name, "".join(f"line {i} {name[-2:]}\u2028.\n" for i in range(300)))
    return tmp_path


def test_without_test_sets_some_pairs_are_drawn(commentary):
    corpus = load("news_commentary", data_dir=commentary)
    assert {split: len(e) for split, e in corpus.splits.items()} == {"train": 294, "dev": 3, "test": 3}
    assert len({e.text for examples in corpus.splits.values() for e in examples}) == 300
    assert all(e.text.split()[1] == e.target.split()[1] and "de" in e.target for e in corpus["train"])
    assert "drew 3 training pairs as dev, since newstest2015 is not there" in corpus.notes


def test_the_test_sets_of_the_wmt(commentary):
    for names in news_commentary.TESTS.values():
        for name in names:
            written(commentary / "news_commentary", name, SGM.format(name[-6:-4]))
    corpus = load("news_commentary:de-en", data_dir=commentary)
    assert len(corpus["train"]) == 300
    assert [(e.text, e.target) for e in corpus["test"]] == [
        ('Rock & "roll" is de', 'Rock & "roll" is en'),
        ("Second one", "Second one"),
        ("Third", "Third"),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<doc>\n<seg id="1">cut\n', r"x\.sgm, line 2: <seg \.\.\.>text</seg> was expected"),
        ("<doc>\n</doc>", "holds no segments"),
        ("", "is empty"),
    ],
)
def test_a_damaged_test_set_is_said(tmp_path, text, says):
    with pytest.raises(BadData, match=says):
        read_segments(written(tmp_path, "x.sgm", text))


def test_the_real_captions():
    corpus = load("multi30k", data_dir=real("multi30k"))
    assert [len(corpus[split]) for split in ("train", "dev", "test")] == [29000, 1014, 1000]
    assert corpus.notes == (), "all official, nothing dropped"
    assert corpus["train"][0].text == "Two young, White males are outside near many bushes."


def test_the_real_alignments():
    folder = real("multi30k")
    if not (folder / "multi30k" / "aligned_tok").is_dir():
        pytest.skip("WHENCE_DATA has no folder multi30k/aligned_tok")
    sizes = {"train": (29000, True), "dev": (1014, True), "test": (1000, False)}
    for split, (size, dropped) in sizes.items():
        read = multi30k.read_alignments(folder, split)
        assert len(read.examples) == size
        assert bool(read.dropped) == dropped
