import { Link } from '@tanstack/react-router'
import type { Conversation } from '../../api/schema.gen.d.ts'
import { formatCompact, formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { Time } from '../../ui/parts.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './conversations.module.css'

/** The columns of the list of conversations. */
export function conversationColumns(project_id: string): Column<Conversation>[] {
  return [
    {
      id: 'conversation',
      head: 'Conversation',
      cell: (row) => <Name project_id={project_id} row={row} />,
    },
    {
      id: 'user',
      head: 'User',
      wide: true,
      cell: ({ user_id }) => user_id !== null && <Plain>{user_id}</Plain>,
    },
    {
      id: 'models',
      head: 'Models',
      wide: true,
      cell: ({ models }) => <Plain>{models.join(', ')}</Plain>,
    },
    number('total_tasks', 'Tasks', ({ total_tasks }) => formatCount(total_tasks)),
    number('total_traces', 'Traces', ({ total_traces }) => formatCount(total_traces)),
    {
      ...number('calls', 'Calls', ({ calls }) => formatCount(calls)),
      cell: ({ calls, errors }) => (
        <>
          {formatCount(calls)}
          {errors > 0 && <div className={ui.fault}>{formatCount(errors)} failed</div>}
        </>
      ),
    },
    number('total_tokens', 'Tokens', ({ total_tokens }) => formatCompact(total_tokens)),
    number('cost_usd', 'Cost', ({ cost_usd }) => formatUsd(cost_usd)),
    {
      id: 'last_activity_at',
      head: 'Active',
      number: true,
      wide: true,
      sortable: true,
      cell: ({ last_activity_at }) => <Time at={last_activity_at} ago />,
    },
  ]
}

function number(
  id: string,
  head: string,
  cell: (row: Conversation) => string,
): Column<Conversation> {
  return { id, head, cell, number: true, wide: true, sortable: true }
}

function Name({ project_id, row }: { project_id: string; row: Conversation }) {
  const { conversation_id, external_id, user_id, total_tasks, cost_usd, errors } = row
  return (
    <>
      <Link
        to="/p/$project_id/conversations/$conversation_id"
        params={{ project_id, conversation_id }}
      >
        <Plain>{external_id ?? conversation_id}</Plain>
      </Link>
      <div className={ui.soft}>lasted {formatDuration(row.duration_ms)}</div>
      <div className={css.narrow}>
        {user_id !== null && (
          <>
            <Plain>{user_id}</Plain> ·{' '}
          </>
        )}
        {formatCount(total_tasks)} tasks · {formatUsd(cost_usd)}
        {errors > 0 && <span className={ui.fault}> · {formatCount(errors)} calls failed</span>} ·{' '}
        <Time at={row.last_activity_at} ago />
      </div>
    </>
  )
}
