"""The demo models, audited when no model is named: two small ones whose verdicts are known from the papers.

`stories`: a question picks the fact that answers it, so attention should matter (Vashishth et al. 2019, Table 2, bAbI).
`reviews`: sentiment can be predicted from all words equally, so it should hardly matter (Vashishth et al. 2019, Table
1; Wiegreffe & Pinter 2019).
"""

from whence.training.config import Training

TRAININGS = {
    "stories": Training(
        data="stories", attention="dot", embedding_size=32, hidden_size=32, epochs=10, patience=10, learning_rate=1e-2
    ),  # the scaled dot product learns to match question and story in a third of the time
    "reviews": Training(data="reviews", embedding_size=32, hidden_size=32, epochs=7, patience=7, learning_rate=1e-2),
}
SHARES = {"stories": 0.6, "reviews": 0.4}  # of the budget: stories are longer
