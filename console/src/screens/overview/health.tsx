import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { DeadLetter, Ledger, LedgerPath } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import type { Instants } from '../query/use-draft.ts'
import css from './overview.module.css'

const letters = 20

/** The completeness ledger. Every accepted record is in one of the columns. */
export function LedgerPanel({ window }: { window: Instants }) {
  const query = api.useQuery('get', '/api/v2/observability/ledger', { params: { query: window } })
  return (
    <section className={css.panel} aria-label="Ledger">
      <h3>Ledger</h3>
      <Loaded query={query} what="Reading the ledger">
        {(ledger) => <Sums of={ledger as Ledger} />}
      </Loaded>
    </section>
  )
}

function Sums({ of: { totals, paths, queue } }: { of: Ledger }) {
  const { accepted, stored, rejected, pending, lost } = totals
  const isWhole = accepted === stored + rejected + pending + lost
  return (
    <>
      <p className={css.sum}>
        <b>{formatCount(accepted)}</b> accepted = <b>{formatCount(stored)}</b> stored +{' '}
        <b>{formatCount(rejected)}</b> rejected + <b>{formatCount(pending)}</b> pending
        {lost > 0 && (
          <>
            {' '}
            + <b>{formatCount(lost)}</b> lost
          </>
        )}
        <Badge tone={isWhole && lost === 0 ? 'good' : 'bad'}>
          {isWhole ? (lost === 0 ? 'adds up' : 'records were lost') : 'does not add up'}
        </Badge>
      </p>
      <Table label="Ledger by path" columns={pathColumns} rows={paths} keyOf={({ path }) => path} />
      <p className={ui.soft}>
        {queue.reachable
          ? `${formatCount(queue.pending_messages ?? 0)} messages wait in the queue`
          : 'The queue does not answer, so waiting messages are not known'}
        {queue.oldest_pending_at !== null && (
          <>
            , the oldest since <Time at={queue.oldest_pending_at} ago />
          </>
        )}
        .
      </p>
    </>
  )
}

const count = (id: keyof LedgerPath & ('accepted' | 'stored'), head: string) => ({
  id,
  head,
  number: true,
  cell: (path: LedgerPath) => formatCount(path[id]),
})

const pathColumns: Column<LedgerPath>[] = [
  { id: 'path', head: 'Path', cell: ({ path }) => path },
  count('accepted', 'Accepted'),
  count('stored', 'Stored'),
  {
    id: 'rejected',
    head: 'Rejected',
    number: true,
    cell: ({ rejected, rejected_by_reason }) => (
      <Reasons count={rejected} of={rejected_by_reason} />
    ),
  },
  {
    id: 'pending',
    head: 'Pending',
    number: true,
    wide: true,
    cell: ({ pending }) => formatCount(pending),
  },
  {
    id: 'lost',
    head: 'Lost',
    number: true,
    cell: ({ lost, lost_by_reason }) => <Reasons count={lost} of={lost_by_reason} />,
  },
]

function Reasons({ count: all, of }: { count: number; of: LedgerPath['rejected_by_reason'] }) {
  return (
    <>
      {formatCount(all)}
      {of.map((each) => (
        <div key={each.reason} className={ui.soft}>
          {each.reason}: {formatCount(each.items)}
        </div>
      ))}
    </>
  )
}

/** Messages that failed again and again. An administrator can queue them again. */
export function DeadLetters() {
  const project_id = useProjectId()
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const [running, setRunning] = useState<string>()
  const key = ['dead letters', project_id]
  const pages = usePages(
    key,
    (cursor, signal) =>
      call.GET('/api/v2/observability/dead-letters', {
        params: { query: { limit: letters, cursor } },
        signal,
      }),
    (page) => page.dead_letters as DeadLetter[],
  )
  const replay = async (dead_letter_id: string) => {
    setRunning(dead_letter_id)
    try {
      await call.POST('/api/v2/observability/dead-letters/{dead_letter_id}/replay', {
        params: { path: { dead_letter_id } },
      })
      notify('The message is queued again')
    } catch (error) {
      notifyFault(error)
    } finally {
      setRunning(undefined)
      await client.invalidateQueries({ queryKey: key })
    }
  }
  const columns: Column<DeadLetter>[] = [
    { id: 'reason', head: 'Reason', cell: ({ reason }) => <Plain>{reason}</Plain> },
    { id: 'kind', head: 'Kind', wide: true, cell: ({ kind }) => kind },
    { id: 'bytes', head: 'Size', number: true, cell: ({ bytes }) => formatBytes(bytes) },
    { id: 'at', head: 'Since', number: true, cell: ({ buried_at }) => <Time at={buried_at} ago /> },
    {
      id: 'action',
      head: <span className={ui.visuallyHidden}>Action</span>,
      cell: ({ dead_letter_id }) => (
        <Button
          small
          disabled={!isAdmin || running !== undefined}
          title={isAdmin ? undefined : 'Queuing again needs the role admin'}
          aria-label={`Queue message ${dead_letter_id} again`}
          onClick={() => void replay(dead_letter_id)}
        >
          {running === dead_letter_id ? 'Queuing…' : 'Queue again'}
        </Button>
      ),
    },
  ]
  return (
    <section className={css.panel} aria-label="Dead letters">
      <h3>Dead letters</h3>
      <List
        label="Dead letters"
        pages={pages}
        columns={columns}
        keyOf={({ dead_letter_id }) => dead_letter_id}
        empty={<p className={css.nothing}>No message was given up.</p>}
      />
    </section>
  )
}
