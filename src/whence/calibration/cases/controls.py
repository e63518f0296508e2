"""Do the tests of explanations work (question 4)? Models on which they must, and models at chance.

Where one word decides, and replacing any other changes nothing, a word that is planted and used is found by leaving
words out: the tests work. For a model at chance the question is undecided.
"""

from collections.abc import Callable

from whence.calibration.case import Case, Kind, Known
from whence.calibration.cases import attends, carriers, chance, trained

WORK: dict[int, Known] = {4: "yes"}
NOTHING: dict[int, Known] = {4: "undecided"}


def asking(make: Callable[[int, int], Case], answers: dict[int, Known]) -> Callable[[int, int], Case]:
    """Another kind's case with its proof, of which question 4 alone is asked."""

    def made(seed: int, n: int) -> Case:
        case = make(seed, n)
        return Case(case.subject, case.corpus, answers, case.proof)

    return made


BY_NAME = {kind.name: kind.make for kind in (*attends.KINDS, *carriers.KINDS, *chance.KINDS, *trained.KINDS)}
KINDS = (
    Kind("tests-trained-lstm", "LSTM, led to the deciding word", asking(BY_NAME["trained-lstm"], WORK), True),
    Kind("tests-trained-bert", "BERT, led to the deciding word", asking(BY_NAME["trained-bert"], WORK), True),
    Kind("tests-deceptive-lstm", "LSTM, led away from it", asking(BY_NAME["deceptive-lstm"], WORK), True),
    Kind("tests-attends", "BERT with hand-set weights on the deciding word", asking(BY_NAME["attends"], WORK), True),
    Kind("tests-decoder", "GPT-2 with hand-set weights on it", asking(BY_NAME["attends-decoder"], WORK), True),
    Kind("tests-carrier", "BERT with hand-set weights, carried on", asking(BY_NAME["carrier-next"], WORK), True),
    Kind("tests-untrained", "BERT as initialised", asking(BY_NAME["untrained-bert"], NOTHING), True),
    Kind("tests-labels-shuffled", "random labels", asking(BY_NAME["labels-shuffled"], NOTHING), True),
)
