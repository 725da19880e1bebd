import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { RetentionBucket, RetentionRunDetail } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole } from '../../session/project.ts'
import { Chart } from '../../ui/chart.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { formatBytes, formatCount, formatDay } from '../../ui/format.ts'
import { BackButton } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, Progress, pollWhile } from '../../ui/job.tsx'
import { Json } from '../../ui/json.tsx'
import { Button, Facts, State, Tile, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { barsOf, type Split, type Sums, splits, sumsOf } from './buckets.ts'

const path = '/api/v2/observability/retention/runs/{job_id}'
const page = 1_000
/** Buckets that the browser reads of one run; the sums of the run cover all of them. */
const buckets_max = 20_000

/** A run or a dry run: how far it is, and what it deletes, by day, kind and environment. */
export function Run({ job_id, hasBack }: { job_id: string; hasBack?: boolean }) {
  const run = api.useQuery(
    'get',
    path,
    { params: { path: { job_id }, query: { limit: 1 } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <section className={ui.stack} aria-label="Run">
      {hasBack === true && <BackButton all="runs" change={{ run: undefined }} />}
      <Loaded query={run} what="Reading the run">
        {(detail) => (
          <>
            <RunHead run={detail} />
            {detail.state === 'succeeded' && <Buckets run={detail} />}
          </>
        )}
      </Loaded>
    </section>
  )
}

function RunHead({ run }: { run: RetentionRunDetail }) {
  const { result } = run
  return (
    <>
      <div className={ui.row}>
        <h2>{run.dry_run ? 'Dry run: what would go' : 'Run: what was deleted'}</h2>
        <State of={run.state} />
        {run.is_late && <State of="late" />}
        <CancelRun run={run} />
      </div>
      {isUnderWay(run.state) && <Progress label={progressOf(run)} />}
      <Facts
        of={[
          ['Asked by', <Actor key="by" of={run.requested_by} />],
          ['Asked', <Time key="at" at={run.created_at} />],
          ['Planned for', run.scheduled_for && <Time key="for" at={run.scheduled_for} />],
          ['Ended', run.ended_at && <Time key="end" at={run.ended_at} />],
          ['Rules of this dry run', run.rules && <Json key="rules" value={run.rules} open={0} />],
          ['Error', run.error && <Plain key="error">{run.error}</Plain>],
        ]}
      />
      {result !== null && (
        <div className={ui.tiles}>
          <Tile name={run.dry_run ? 'Rows that would go' : 'Rows deleted'}>
            {formatCount(result.deleted_rows)}
          </Tile>
          <Tile name="Bytes, about">{formatBytes(result.deleted_bytes)}</Tile>
          <Tile name="Rows without content">{formatCount(result.masked_rows)}</Tile>
          <Tile name="Rows kept by a hold">{formatCount(result.held_rows)}</Tile>
          <Tile name="Rows kept otherwise">{formatCount(result.kept_rows)}</Tile>
          {result.archives_requested > 0 && (
            <Tile name="Archives asked for">{formatCount(result.archives_requested)}</Tile>
          )}
        </div>
      )}
    </>
  )
}

/** Says how far a run is. */
export function progressOf({ state, progress }: Pick<RetentionRunDetail, 'state' | 'progress'>) {
  if (state === 'queued') return 'Waiting for a worker'
  if (progress === null) return 'Starting'
  return `${formatCount(progress.steps)} steps done, now at ${progress.day}`
}

function CancelRun({ run }: { run: RetentionRunDetail }) {
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const cancel = api.useMutation('post', `${path}/cancel`, {
    onSuccess: () => notify('The run ends before its next step.'),
    onError: notifyFault,
    onSettled: async () => {
      setAsking(false)
      await client.invalidateQueries({ queryKey: ['get', path] })
    },
  })
  if (!isUnderWay(run.state) || !isAdmin) return null
  return (
    <>
      <Button small look="danger" onClick={() => setAsking(true)}>
        Cancel the run
      </Button>
      <Confirm
        title="Cancel this run?"
        action="Cancel the run"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={cancel.isPending}
        onConfirm={() => cancel.mutate({ params: { path: { job_id: run.job_id } } })}
      >
        <p>
          {run.dry_run
            ? 'It has deleted nothing.'
            : 'What it has deleted stays deleted. The next daily run deletes the rest.'}
        </p>
      </Confirm>
    </>
  )
}

/** Reads the buckets of an ended run, page by page, up to a limit. */
function useBuckets(job_id: string) {
  const query = useInfiniteQuery({
    queryKey: ['retention-buckets', job_id],
    queryFn: async ({ pageParam: cursor, signal }) => {
      const params = { path: { job_id }, query: { limit: page, ...(cursor && { cursor }) } }
      const { data } = await call.GET(path, { params, signal })
      return { buckets: data?.buckets ?? [], next_cursor: data?.next_cursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }, pages) =>
      pages.length * page < buckets_max ? next_cursor : undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { hasNextPage, isFetching, fetchNextPage, error } = query
  if (hasNextPage && !isFetching && error === null) void fetchNextPage()
  const { data } = query
  const rows = useMemo(() => data?.pages.flatMap(({ buckets }) => buckets) ?? [], [data])
  return { ...query, rows }
}

function Buckets({ run }: { run: RetentionRunDetail }) {
  const [search, change] = useUrlState()
  const split = splits.find((each) => each === search['by']) ?? 'kind'
  const query = useBuckets(run.job_id)
  const count = run.result?.buckets ?? 0
  if (query.data !== undefined && query.rows.length === 0) {
    return <p className={ui.notice}>No row is old enough: nothing {goes(run)}.</p>
  }
  return (
    <Loaded query={query} what="Reading what goes">
      {() => (
        <>
          <div className={ui.row}>
            <label className={ui.row}>
              Split by
              <select value={split} onChange={(event) => change({ by: event.target.value })}>
                {splits.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
            {(query.hasNextPage || query.rows.length < count || run.result?.is_partial) && (
              <span className={ui.soft}>
                {formatCount(query.rows.length)} of {formatCount(count)} groups are shown
              </span>
            )}
          </div>
          <LossChart buckets={query.rows} split={split} verb={goes(run)} />
          <Reasons buckets={query.rows} />
          <Table
            label="Rows by kind and environment"
            columns={columns}
            rows={sumsOf(query.rows)}
            keyOf={({ kind, environment }) => `${kind} ${environment}`}
          />
        </>
      )}
    </Loaded>
  )
}

function goes({ dry_run }: RetentionRunDetail): string {
  return dry_run ? 'would go' : 'went'
}

function LossChart({
  buckets,
  split,
  verb,
}: {
  buckets: readonly RetentionBucket[]
  split: Split
  verb: string
}) {
  const { x, series } = useMemo(() => barsOf(buckets, split), [buckets, split])
  if (x.length === 0) return <p className={ui.notice}>No row {verb}: all rows are kept.</p>
  const label = `Rows per day that ${verb}, by ${split}`
  return <Chart label={label} look="bars" stacked formatX={formatDay} {...{ x, series }} />
}

const reasons: Record<string, string> = {
  held: 'a legal hold protects them',
  archive_running: 'an archive of their day is being written',
  archive_missing: 'no verified archive has their day',
  in_future: 'their time is in the future',
}

function Reasons({ buckets }: { buckets: readonly RetentionBucket[] }) {
  const groups = Map.groupBy(
    buckets.filter(({ action }) => action === 'keep'),
    ({ reason }) => reason ?? 'held',
  )
  if (groups.size === 0) return null
  return (
    <ul>
      {[...groups].map(([reason, members]) => (
        <li key={reason}>
          {formatCount(members.reduce((sum, { rows }) => sum + rows, 0))} rows are kept because{' '}
          {reasons[reason] ?? reason}.
        </li>
      ))}
    </ul>
  )
}

const columns: Column<Sums>[] = [
  { id: 'kind', head: 'Kind', cell: ({ kind }) => kind },
  {
    id: 'environment',
    head: 'Environment',
    cell: ({ environment }) => (environment === '' ? 'none' : <Plain>{environment}</Plain>),
  },
  { id: 'days', head: 'Days', number: true, wide: true, cell: ({ days }) => formatCount(days) },
  { id: 'from', head: 'From', wide: true, cell: ({ first }) => first },
  { id: 'to', head: 'To', wide: true, cell: ({ last }) => last },
  { id: 'deleted', head: 'Deleted', number: true, cell: ({ deleted }) => formatCount(deleted) },
  {
    id: 'masked',
    head: 'Content removed',
    number: true,
    cell: ({ masked }) => formatCount(masked),
  },
  { id: 'held', head: 'Held', number: true, cell: ({ held }) => formatCount(held) },
  { id: 'kept', head: 'Kept', number: true, wide: true, cell: ({ kept }) => formatCount(kept) },
  {
    id: 'bytes',
    head: 'Bytes, about',
    number: true,
    wide: true,
    cell: ({ bytes }) => formatBytes(bytes),
  },
]
