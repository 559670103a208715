// How a node stands at one step of a plan. The order is also that of the colours in a theme.

export const enum NodeState {
  Never = 0,
  Evicted = 1,
  Resident = 2,
  Computing = 3,
  Recomputing = 4,
  Uncomputing = 5,
  Slow = 6,
  ResidentAndSlow = 7,
  Loading = 8,
  Storing = 9,
}

export const STATE_COUNT = 10;

/** Words for the legend and the inspector, by NodeState. */
export const STATE_WORDS: readonly string[] = [
  "not yet computed",
  "given up",
  "in memory",
  "computing",
  "recomputing",
  "uncomputing",
  "in slow memory",
  "in both memories",
  "loading",
  "storing",
];
