import { within } from '../store/figures.ts'
import { type ExplorerFacts, goals_ms } from './facts.ts'

/** The section of the page about traces as trees. */
export function explorerSection({ rows, pages }: ExplorerFacts): string {
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
  ].join('\n')
}

const goalSize = 10_000

function goalsMet(explorer_ms: number, critical_path_ms: number): string {
  return `${within(explorer_ms, goals_ms.explorer)}, ${within(critical_path_ms, goals_ms.critical_path)}`
}
