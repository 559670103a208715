// The state of a node at one step of a plan. The colours of a theme have the same order.

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
  "freed",
  "in memory",
  "computing",
  "recomputing",
  "uncomputing",
  "in slow memory",
  "in both memories",
  "loading",
  "storing",
];
