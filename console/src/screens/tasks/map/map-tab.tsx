import { useEffect, useMemo } from 'react'
import { formatCount, formatUsd } from '../../../ui/format.ts'
import { Loaded } from '../../../ui/states.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { mergeThreads, useTurnPages } from '../turns/use-turn-pages.ts'
import { buildMap, type MapEdge, type MapNode } from './build-map.ts'
import { Drawing } from './drawing.tsx'

/** Maximum calls that the map reads; it says so when the task has more. */
const calls_max = 2_000

/** Agents, models and tools of a task, and what they did with each other. */
export function MapTab({ task_id }: { task_id: string }) {
  const pages = useTurnPages(task_id)
  const { rows, hasMore, isLoadingMore, loadMore } = pages
  const turns = useMemo(() => rows.flatMap((reply) => reply.turns), [rows])
  const isWhole = !hasMore || turns.length >= calls_max
  useEffect(() => {
    if (!isWhole && !isLoadingMore) loadMore()
  }, [isWhole, isLoadingMore, loadMore])
  const { nodes, edges } = useMemo(() => buildMap(turns, mergeThreads(rows)), [turns, rows])
  return (
    <Loaded query={pages} what="Reading the calls">
      {() => (
        <div className={ui.stack}>
          <h2 className={ui.visuallyHidden}>Map</h2>
          {hasMore && (
            <p role="status">
              Shows the first {formatCount(turns.length)} of {formatCount(rows[0]?.total ?? 0)}{' '}
              calls.
            </p>
          )}
          <Drawing nodes={nodes} edges={edges} />
          <p className={ui.soft}>
            Choose an agent, model or tool to see only its turns. A thick line has iterations of a
            loop.
          </p>
          <h3>As a table</h3>
          <Table
            label="Who called what"
            columns={columns(nodes)}
            rows={edges}
            keyOf={({ from, to }) => `${from} ${to}`}
          />
        </div>
      )}
    </Loaded>
  )
}

const columns = (nodes: readonly MapNode[]): Column<MapEdge>[] => {
  const nameOf = (id: string) => nodes.find((node) => node.id === id)?.name ?? ''
  const kindOf = (id: string) => nodes.find((node) => node.id === id)?.kind ?? ''
  return [
    { id: 'from', head: 'Agent', cell: ({ from }) => <Plain>{nameOf(from)}</Plain> },
    { id: 'kind', head: 'Calls a', cell: ({ to }) => kindOf(to) },
    { id: 'to', head: 'Name', cell: ({ to }) => <Plain>{nameOf(to)}</Plain> },
    { id: 'count', head: 'Times', number: true, cell: ({ count }) => formatCount(count) },
    { id: 'failed', head: 'Failed', number: true, cell: ({ failed }) => formatCount(failed) },
    {
      id: 'repeats',
      head: 'In a loop',
      number: true,
      cell: ({ repeats }) => formatCount(repeats),
    },
    {
      id: 'cost',
      head: 'Cost',
      number: true,
      cell: ({ cost_usd }) => (cost_usd > 0 ? formatUsd(String(cost_usd)) : ''),
    },
  ]
}
