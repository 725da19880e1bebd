import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { type Pages, usePages } from '../../api/pages.ts'
import type { Conversation, ConversationList } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { rememberList } from '../../app/list-walk.ts'
import { type NewRows, useNewRows } from '../../app/new-rows.ts'
import { useProjectId } from '../../app/project.ts'
import type { Search } from '../../app/search.ts'
import { rangeOf } from '../../app/time-range.ts'
import { useUrlState } from '../../app/use-search.ts'
import { FilterField } from '../../ui/filter-field.tsx'
import { proposeFilter } from '../../ui/filter-language.ts'
import { formatCount } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { NewRowsButton } from '../../ui/new-rows-button.tsx'
import { Heading } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Sorting } from '../../ui/table.tsx'
import ui from '../../ui/ui.module.css'
import { conversationColumns } from './columns.tsx'
import { conversationFields, parseConversationFilter } from './conversation-filter.ts'

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
      ...{ sort: sorting.by as 'last_activity_at', order: sorting.order, limit: page_max, cursor },
    }
    return call.GET('/api/v1/conversations', { params: { query }, ...(signal && { signal }) })
  }
  const pages = usePages(key, read, conversationsIn, { isStill: true })
  const fresh = useNewRows<ConversationList, Conversation>({
    ...{ topic: 'tasks', key, rowsOf: conversationsIn },
    readFirst: async () => (await read()).data,
    withRows: (each, rows) => ({ ...each, conversations: rows }),
    keyOf: ({ conversation_id }) => conversation_id,
  })
  return { pages, fresh }
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
