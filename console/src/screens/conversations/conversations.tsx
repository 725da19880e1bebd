import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { type Pages, usePages } from '../../api/pages.ts'
import type { Conversation, ConversationList, operations } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { rememberList } from '../../browser/list-walk.ts'
import type { Search } from '../../browser/search.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { type NewRows, useNewRows } from '../../session/new-rows.ts'
import { useProjectId } from '../../session/project.ts'
import { FilterField } from '../../ui/filter-field.tsx'
import {
  type FilterField as Field,
  type FilterFault,
  parseFilter,
  proposeFilter,
  textField,
} from '../../ui/filter-language.ts'
import { formatCompact, formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { NewRowsButton } from '../../ui/new-rows-button.tsx'
import { Heading, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column, Sorting } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './conversations.module.css'

const page_max = 50

/** The list of conversations: whose they are, how many tasks they have, and what they cost. */
export function Conversations() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const { href } = useLocation()
  const [search, change] = useUrlState()
  const { pages, fresh } = useConversations(project_id, search)
  const ids = pages.rows.map((row) => row.conversation_id)
  return (
    <>
      <Heading title="Conversations">
        <NewRowsButton count={fresh.count} show={fresh.show} />
        {pages.total !== undefined && (
          <span className={ui.soft}>{formatCount(pages.total)} conversations</span>
        )}
      </Heading>
      <Filter rows={pages.rows} />
      <div onClickCapture={() => rememberList('conversations', { ids, href })}>
        <List
          label="Conversations"
          pages={pages}
          columns={conversationColumns(project_id)}
          keyOf={(row) => row.conversation_id}
          onOpen={({ conversation_id }) => {
            rememberList('conversations', { ids, href })
            void navigate({
              to: '/p/$project_id/conversations/$conversation_id',
              params: { project_id, conversation_id },
            })
          }}
          sorting={sortingOf(search)}
          onSort={({ by, order }) => change({ sort: by, order })}
          empty={<NoConversations project_id={project_id} />}
        />
      </div>
    </>
  )
}

function sortingOf({ sort = 'last_activity_at', order = 'desc' }: Search): Sorting {
  return { by: sort, order: order === 'asc' ? 'asc' : 'desc' }
}

function useConversations(
  project_id: string,
  search: Search,
): { pages: Pages<Conversation>; fresh: NewRows } {
  const { from, to, q = '' } = search
  const sorting = sortingOf(search)
  const key = ['conversations', project_id, { from, to, q, ...sorting }]
  const read = (cursor?: string, signal?: AbortSignal) => {
    const query = {
      ...rangeOf(search, serverNow()),
      ...parseConversationFilter(q).query,
      sort: sorting.by as 'last_activity_at',
      order: sorting.order,
      limit: page_max,
      cursor,
    }
    return call.GET('/api/v1/conversations', { params: { query }, ...(signal && { signal }) })
  }
  const pages = usePages(key, read, conversationsIn, { isStill: true })
  const fresh = useNewRows<ConversationList, Conversation>({
    topic: 'tasks',
    key,
    rowsOf: conversationsIn,
    readFirst: async () => (await read()).data,
    withRows: (each, rows) => ({ ...each, conversations: rows }),
    keyOf: ({ conversation_id }) => conversation_id,
  })
  return { pages, fresh }
}

/** Filters of the list of conversations, as the API names them. */
type ConversationQuery = Pick<
  NonNullable<operations['listConversations']['parameters']['query']>,
  'user_id' | 'model'
>

const conversationFields: readonly Field<ConversationQuery>[] = [
  textField('user', 'User', (user_id) => ({ user_id })),
  textField('model', 'A model that answered', (model) => ({ model })),
]

/** Reads a filter of conversations. They have no names, so words without a field are faults. */
function parseConversationFilter(text: string): {
  query: ConversationQuery
  faults: FilterFault[]
} {
  const { query, words, faults } = parseFilter<ConversationQuery>(conversationFields, text)
  const message = 'Conversations are found by user:… or model:…'
  const at = text.indexOf(words)
  return { query, faults: words === '' ? faults : [...faults, { at, token: words, message }] }
}

const conversationsIn = (each: ConversationList): Conversation[] => each.conversations

function Filter({ rows }: { rows: readonly Conversation[] }) {
  const [{ q = '' }, change] = useUrlState()
  const known = {
    user: [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))].sort(),
    model: [...new Set(rows.flatMap(({ models }) => models))].sort(),
  }
  return (
    <FilterField
      label="Filter conversations"
      placeholder="Filter: user:… model:…"
      value={q}
      onApply={(text) => change({ q: text }, { push: true })}
      propose={(text, cursor) => proposeFilter(conversationFields, { text, cursor, known })}
      faults={parseConversationFilter(q).faults}
    />
  )
}

function NoConversations({ project_id }: { project_id: string }) {
  return (
    <Empty title="No conversations in this range">
      <p>
        A conversation is a group of tasks: send <code>X-Conversation-ID</code> with each call, or{' '}
        <code>gen_ai.conversation.id</code> on spans.
      </p>
      <p>
        <Link to="/p/$project_id/connect" params={{ project_id }}>
          Connect your agent
        </Link>
        , choose a longer range, or clear the filter.
      </p>
    </Empty>
  )
}

/** The columns of the list of conversations. */
function conversationColumns(project_id: string): Column<Conversation>[] {
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
