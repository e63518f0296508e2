"""The tagger of single words: its equation worked by hand, and that it knows of neighbours by weights alone."""

import torch
from torch.testing import assert_close

from whence.core.attending import attending
from whence.core.overrides import imposed
from whence.models import WeightedConfig, WeightedForTokenClassification


def small() -> WeightedForTokenClassification:
    torch.manual_seed(0)
    config = WeightedConfig(
        vocab_size=9, embedding_size=3, hidden_size=2, num_attention_heads=2, id2label=dict(enumerate("abcd"))
    )
    return WeightedForTokenClassification(config).eval()


def test_answers_are_weighted_sums_of_single_words():
    model = small()
    ids, weights = torch.tensor([[3, 5, 7]]), torch.rand(1, 2, 3, 3).softmax(-1)
    with torch.no_grad(), attending(model, override=imposed(weights)):
        found = model(input_ids=ids).logits[0]
        hidden = [torch.relu(model.project.weight @ model.embeddings.weight[i] + model.project.bias) for i in (3, 5, 7)]
        for i in range(3):
            context = torch.cat([weights[0, h, i] @ torch.stack(hidden) for h in range(2)])
            assert_close(found[i], model.classifier.weight @ context + model.classifier.bias)


def test_without_weights_from_outside_all_words_count_alike_and_padding_not_at_all():
    model, ids = small(), torch.tensor([[3, 5, 0, 0]])
    mask = torch.tensor([[1, 1, 0, 0]])
    with torch.no_grad(), attending(model) as tape:
        padded = model(input_ids=ids, attention_mask=mask).logits[:, :2]
        bare = model(input_ids=ids[:, :2]).logits
    assert_close(padded, bare)
    assert_close(tape["attention"][0].weights[0, :, 0], torch.tensor([[0.5, 0.5, 0.0, 0.0]] * 2))


def test_padding_may_get_weight_where_the_model_that_guides_gives_it_some():
    model, ids = small(), torch.tensor([[3, 5, 0, 0]])
    model.config.masks_padding = False
    with torch.no_grad(), attending(model) as tape:
        model(input_ids=ids, attention_mask=torch.tensor([[1, 1, 0, 0]]))
    assert_close(tape["attention"][0].weights[0, :, 0], torch.full((2, 4), 0.25))


def test_with_all_weight_on_itself_a_word_knows_nothing_of_its_neighbours():
    model = small()
    with torch.no_grad(), attending(model, override=imposed(torch.eye(3).expand(1, 2, 3, 3))):
        one, other = (model(input_ids=torch.tensor([[3, 5, last]])).logits for last in (7, 8))
    assert_close(one[:, :2], other[:, :2])
    assert not torch.allclose(one[:, 2], other[:, 2])


def test_the_loss_is_the_cross_entropy_of_the_tags_there_are():
    model, ids = small(), torch.tensor([[3, 5, 7]])
    labels = torch.tensor([[1, -100, 2]])
    with torch.no_grad():
        output = model(input_ids=ids, labels=labels)
    logs = output.logits[0].log_softmax(-1)
    assert_close(output.loss, -(logs[0, 1] + logs[2, 2]) / 2)
