"""``clgraph recommend MODEL [USER …]``: the best items for users, by a model that ``factorization --save`` wrote."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clgraph.cli.options import add_json, write_result
from clgraph.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELP = "recommend items to users, by a saved factorisation (needs the extra sklearn)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="file that `clgraph factorization --save` has written")
    parser.add_argument("users", metavar="USER", nargs="*", help="users, by their ids; by default all of the fit")
    parser.add_argument("-n", "--items", metavar="N", type=int, default=10, help="greatest number of items each (10)")
    parser.add_argument("--with-rated", action="store_true", help="do not leave out items that the user has rated")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="write user, item and predicted rating, one a line and without a header: between commas if FILE ends in "
        ".csv, else between tabs; - is stdout",
    )  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    import numpy as np

    from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization

    model = SGDMatrixFactorization.load(args.model)
    known = model.known_users
    users = known if not args.users else np.array(args.users)
    if args.users and known.dtype.kind in "iu":
        users = _numbers(args.users)
    items, scores = model.recommend(users, N=args.items, filter_already_liked_items=not args.with_rated)
    rows = list(_rows(users.tolist(), items, scores))
    if args.output is not None:
        write_result(args.output, scores, rows)
    if args.json:
        print_json({"model": args.model, "recommended": [dict(zip(_NAMES, row, strict=True)) for row in rows]})
    elif args.output is None:
        print_table(list(_NAMES), [[user, item, f"{score:.4f}"] for user, item, score in rows])
    elif args.output != "-":
        print(f"{args.output}: {len(rows):,} items for {len(users):,} users")
    return 0


_NAMES = ("user", "item", "score")


def _numbers(texts: list[str]) -> NDArray[Any]:
    """Return ids that are numbers; a word stays text, and no user has it."""
    import numpy as np

    try:
        return np.array([int(text) for text in texts])
    except ValueError:
        return np.array(texts)


def _rows(users: list[Any], items: NDArray[Any], scores: NDArray[Any]) -> Iterator[tuple[Any, Any, float]]:
    for user, of_user, found in zip(users, items.tolist(), scores.tolist(), strict=True):
        yield from ((user, item, score) for item, score in zip(of_user, found, strict=True) if score == score)
