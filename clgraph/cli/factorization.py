"""The command ``clgraph factorization RATINGS``: low-rank factorisation of a rating matrix."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from clgraph.cli.options import add_columns, add_device, add_json, add_strategy, open_session, read_rating_file
from clgraph.cli.terminal import busy, milliseconds, print_fields, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.factorization.training.training import Epoch

HELP = "factorise a matrix of ratings by stochastic gradient descent (needs the extra sklearn)"
_SHOWN = 10  # The printed table has at most this number of epochs.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ratings", metavar="RATINGS",
        help="file of ratings: lines 'user item rating', Matrix Market, or .npz; its content decides; - is stdin",
    )  # fmt: skip
    add_columns(parser, "a text file (user,item,rating)")
    parser.add_argument("-k", "--rank", metavar="K", type=int, default=16, help="number of factors, 1 to 128 (16)")
    parser.add_argument("-n", "--epochs", metavar="N", type=int, default=20, help="sweeps over the ratings (20)")
    add_strategy(parser)
    parser.add_argument("--biases", action="store_true", help="add a bias for each user and item")
    parser.add_argument("--learning-rate", metavar="X", type=float, default=0.01, help="of the first epoch (0.01)")
    parser.add_argument(
        "--schedule", default="constant", help="of the learning rate: constant, inverse or bold_driver (constant)"
    )
    parser.add_argument(
        "--decay", metavar="X", type=float, default=0.1, help="of the schedule inverse: rate / (1 + X t) (0.1)"
    )
    parser.add_argument(
        "--regularization", metavar="X", type=float, default=0.05, help="weight of the squared norms (0.05)"
    )
    parser.add_argument("--storage", default="float32", help="type of the factors: float32 or float16 (float32)")
    parser.add_argument(
        "--test-share", metavar="X", type=float, default=0.0,
        help="share of the ratings, drawn at random, to keep for a test (0)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", metavar="N", type=int,
        help="of the test ratings and the first factors; it makes the result repeatable, by an offline strategy",
    )  # fmt: skip
    parser.add_argument(
        "--save", metavar="FILE",
        help="write the model, for SGDMatrixFactorization.load; after Ctrl-C that of the last whole epoch",
    )  # fmt: skip
    add_device(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
    from clgraph.algorithms.factorization.estimator.model_file import check_writable

    if args.save is not None:
        check_writable(args.save)
    ratings = read_rating_file(args.ratings, args.columns)
    train, test = ratings.split(args.test_share, 0 if args.seed is None else args.seed)
    session = open_session(args)
    model = SGDMatrixFactorization(
        args.rank, strategy=args.strategy, n_epochs=args.epochs, learning_rate=args.learning_rate,
        schedule=args.schedule, decay=args.decay, regularization=args.regularization, biases=args.biases,
        storage=args.storage, random_state=args.seed, session=session,
    )  # fmt: skip
    try:
        with busy(f"running on {session.facts.name}"):
            model.fit(
                train, eval_set=test if test.n_ratings else None,
                # With a callback, each epoch computes its loss, which the table shows.
                callback=lambda _number, _epoch: False,
            )  # fmt: skip
    except KeyboardInterrupt:
        if args.save is not None and hasattr(model, "history_"):
            model.save(args.save)
            print(f"{args.save} holds the model after epoch {model.n_iter_}", file=sys.stderr)
        raise
    if args.save is not None:
        model.save(args.save)
    info, history = model.info_, model.history_
    if args.json:
        print_json({
            "ratings": args.ratings, "n_users": ratings.n_users, "n_items": ratings.n_items,
            "n_ratings": train.n_ratings, "n_test_ratings": test.n_ratings,
            "epochs": [epoch._asdict() for epoch in history], **info.as_dict(),
        })  # fmt: skip
        return 0
    print_table(["epoch", "learning rate", "RMSE", "test RMSE", "ms", "updates/s"], _rows(history))
    print()
    total, compile_, sweeps = info.seconds.total, info.seconds.compile, sum(epoch.seconds for epoch in history)
    parts = {"sweeps": sweeps, "compile": compile_, "rest": max(0.0, total - sweeps - compile_)}
    fields = {
        "ratings": f"{train.n_ratings:,} of {ratings.n_users:,} users and {ratings.n_items:,} items"
        + (f"; {test.n_ratings:,} for the test" if test.n_ratings else ""),
        "strategy": f"{info.strategy} ({info.kind}, {'picked' if args.strategy == 'auto' else 'forced'})",
        "device": f"{info.device} ({info.why})",
        "time": f"{milliseconds(total)} ms: "
        + ", ".join(f"{part} {milliseconds(seconds)}" for part, seconds in parts.items()),
    }
    print_fields({**fields, **({"saved": args.save} if args.save is not None else {})})
    return 0


def _rows(history: Sequence[Epoch]) -> list[list[object]]:
    """Return the rows of the printed table of epochs: every k-th epoch, counted back from the last epoch."""
    step = -(-len(history) // _SHOWN) or 1
    numbers = [n for n in range(1, len(history) + 1) if (len(history) - n) % step == 0]
    return [
        [
            n, f"{e.learning_rate:.4g}", f"{e.loss:.4f}", f"{e.eval_loss:.4f}" if e.eval_loss == e.eval_loss else "",
            milliseconds(e.seconds), f"{e.updates_per_second:,.0f}",
        ]
        for n, e in ((n, history[n - 1]) for n in numbers)
    ]  # fmt: skip
