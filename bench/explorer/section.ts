import { within } from '../store/figures.ts'
import { type ExplorerFacts, goals_ms, type OutlineRow } from './facts.ts'

/** The section of the page about traces as trees. */
export function explorerSection({ rows, pages, outlines = [] }: ExplorerFacts): string {
  const pure = rows.map(
    ({ shape, observations, tree_ms, path_ms }) =>
      `| ${shape} | ${observations.toLocaleString('en-US')} | ${tree_ms.toFixed(0)} | ${path_ms.toFixed(0)} |`,
  )
  const asked = pages.map((page) => {
    const { observations, explorer_ms, critical_path_ms, hand_ms, ratio } = page
    const goal = observations === goalSize ? goalsMet(explorer_ms, critical_path_ms) : '–'
    const times = [explorer_ms, critical_path_ms, hand_ms].map((ms) => ms.toFixed(0))
    return `| ${observations.toLocaleString('en-US')} | ${times.join(' | ')} | ${ratio.toFixed(2)} | ${goal} |`
  })
  return [
    'Building the tree from rows in memory, and its critical path with slack; ms, medians.',
    '',
    '| shape | observations | tree | path |',
    '|---|---|---|---|',
    ...pure,
    '',
    `From the request to the JSON of the answer; ms, medians. Goals at ${goalSize.toLocaleString('en-US')}: first page ${goals_ms.explorer} ms, critical path ${goals_ms.critical_path} ms. By hand: the same rows by a handwritten statement.`,
    '',
    '| observations | explorer | critical path | by hand | explorer / by hand | goals |',
    '|---|---|---|---|---|---|',
    ...asked,
    '',
    ...outlineLines(outlines),
  ].join('\n')
}

function outlineLines(outlines: readonly OutlineRow[]): string[] {
  if (outlines.length === 0) return []
  const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(1)
  const lines = outlines.map((row) => {
    const { observations, outline_ms, columns_ms, rows_ms, parse_columns_ms, parse_rows_ms } = row
    const times = [outline_ms, columns_ms, rows_ms, parse_columns_ms, parse_rows_ms]
    const sizes = [megabytes(row.columns_bytes), megabytes(row.rows_bytes)]
    const ratio = (row.rows_bytes / row.columns_bytes).toFixed(1)
    const cells = [...times.map((ms) => ms.toFixed(0)), ...sizes, ratio]
    return `| ${observations.toLocaleString('en-US')} | ${cells.join(' | ')} |`
  })
  return [
    'All nodes at once: as columns (`view=outline`), and the same nodes as rows of the tree; ms, medians. Request: to the JSON of the outline. Then from the tree in memory to the JSON, and parsing it.',
    '',
    '| observations | request | to columns | to rows | parse columns | parse rows | columns MB | rows MB | rows / columns |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ]
}

const goalSize = 10_000

function goalsMet(explorer_ms: number, critical_path_ms: number): string {
  return `${within(explorer_ms, goals_ms.explorer)}, ${within(critical_path_ms, goals_ms.critical_path)}`
}
