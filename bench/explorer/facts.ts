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

/** All nodes of a trace as columns, and the same nodes as rows of the tree. */
export type OutlineRow = {
  observations: number
  /** From the request to the JSON of the outline. */
  outline_ms: number
  /** From the tree in memory to the JSON: of the outline, and of all nodes as rows. */
  columns_ms: number
  rows_ms: number
  /** Parsing the JSON of each. */
  parse_columns_ms: number
  parse_rows_ms: number
  columns_bytes: number
  rows_bytes: number
}

export type ExplorerFacts = {
  rows: ExplorerRow[]
  pages: PageRow[]
  /** Absent in kept results without outlines. */
  outlines?: OutlineRow[]
}

/** The goals of the project for a trace of 10,000 observations. */
export const goals_ms = { explorer: 200, critical_path: 100 } as const
