from core.recap import recap
from core.setup import run


def test_five_sentences_hold_the_numbers_of_their_own_state():
    told = recap()
    assert [sentence.page for sentence in told] == ["score", "scale", "softmax", "mask", "heads"]
    for sentence in told:
        assert "{" not in sentence.text
        steps, row, col = run(sentence.setup).heads, sentence.row, sentence.col
        output = steps.output[0, row, 0]
        shown = {
            "score": f"scores {steps.scores[0, row, col]:.0f}.",
            "scale": f"becomes {steps.scaled_scores[0, row, col]:.0f}.",
            "softmax": f"becomes {steps.weights[0, row, col]:.3f}, and the blend {output:.2f}.",
            "mask": f"weight {steps.weights[0, row, col]:.0f}.",
            "heads": f"{steps.weights[0, row, col]:.2f} for",
        }
        assert shown[sentence.page] in sentence.text
