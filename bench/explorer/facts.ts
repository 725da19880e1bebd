/** Costs of a trace of one size; times are medians in ms. */
export type ExplorerRow = {
  /** The shape of the tree. */
  shape: string
  observations: number
  /** Building the tree from rows, and its critical path. */
  tree_ms: number
  path_ms: number
}

/** A page, from the request to its JSON, and reading the same rows by hand. */
export type PageRow = {
  observations: number
  explorer_ms: number
  critical_path_ms: number
  /** The floor: a handwritten SQL statement, with its rows parsed. */
  hand_ms: number
  /** The explorer's page relative to the floor. */
  ratio: number
}

export type ExplorerFacts = { rows: ExplorerRow[]; pages: PageRow[] }

/** The goals of the project for a trace of 10,000 observations. */
export const goals_ms = { explorer: 200, critical_path: 100 } as const
