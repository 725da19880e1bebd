import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { TaskTimeline, TimelineEntry } from '../../api/schema.gen.d.ts'
import { formatDuration } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'

const page_max = 100
const text_max = 120

/** The entries of a task in their order. */
export function OutlineView({
  source,
}: {
  source: { kind: 'task' | 'trace'; id: string }
  mode: 'tree' | 'waterfall'
  selected: string | undefined
  onSelect: (id: string | undefined) => void
}) {
  const pages = usePages(
    ['timeline', source.id],
    (cursor, signal) =>
      call.GET('/api/v1/tasks/{task_id}/timeline', {
        params: { path: { task_id: source.id }, query: { limit: page_max, cursor } },
        signal,
      }),
    (each: TaskTimeline) =>
      each.entries.map((entry, at) => ({ ...entry, key: `${entry.time} ${at}` })),
  )
  return (
    <List
      label="Steps"
      pages={pages}
      columns={columns}
      keyOf={(entry) => `${entry.role} ${entry.key}`}
      empty={<Empty title="No steps yet" />}
    />
  )
}

const columns: Column<TimelineEntry>[] = [
  { id: 'time', head: 'Time', cell: ({ time }) => <Time at={time} /> },
  { id: 'role', head: 'Kind', cell: ({ role }) => role.replaceAll('_', ' ') },
  { id: 'what', head: 'What', cell: (entry) => <Plain>{titleOf(entry)}</Plain> },
  {
    id: 'state',
    head: 'Result',
    cell: (entry) => {
      const isFailed = 'error' in entry && entry.error !== null
      return isFailed ? <Badge tone="bad">failed</Badge> : null
    },
  },
  {
    id: 'duration',
    head: 'Duration',
    number: true,
    cell: (entry) =>
      'latency_ms' in entry && entry.latency_ms !== null ? formatDuration(entry.latency_ms) : '',
  },
]

function titleOf(entry: TimelineEntry): string {
  if (entry.role === 'tool_call') return `${entry.tool_name} ${entry.arguments.slice(0, text_max)}`
  if (entry.role === 'tool_result') {
    return `${entry.tool_name ?? ''} ${entry.content.slice(0, text_max)}`
  }
  return entry.role === 'state_change' ? entry.change : entry.name
}
