import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePages } from '../../api/pages.ts'
import type { AggregateAnswer, QueryPage } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts'
import { Button } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { MoreRows } from '../../ui/table.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { recordsOf } from './drill.ts'
import {
  type ExportFormat,
  exportPage,
  maxExportRows,
  readAll,
  toCsv,
  toNdjson,
} from './export-rows.ts'
import { latestOf } from './presets.ts'
import css from './query.module.css'
import { ResultTable } from './result-table.tsx'
import { readGroups, readPage } from './run.ts'
import { TimeChart } from './time-chart.tsx'
import type { Asked, Draft } from './use-draft.ts'

/** The rows of the query that was run last. */
export function Results({ asked, open }: { asked: Asked; open: Draft['open'] }) {
  return asked.body.measures === undefined ? (
    <Records asked={asked} />
  ) : (
    <Groups asked={asked} open={open} />
  )
}

function Records({ asked }: { asked: Asked }) {
  const project_id = useProjectId()
  const pages = usePages(
    ['query', project_id, asked],
    async (cursor, signal) => ({ data: await readPage(asked, { cursor, signal }) }),
    (page) => page.rows,
  )
  const [first] = (pages.data as { pages: QueryPage[] } | undefined)?.pages ?? []
  return (
    <Loaded query={pages} what="Reading records">
      {() => (
        <section className={ui.stack} aria-label="Result">
          {first !== undefined && (
            <About
              answer={first}
              count={`${formatCount(pages.rows.length)}${pages.hasMore ? ' or more' : ''} rows`}
            >
              <ExportButtons asked={asked} />
            </About>
          )}
          <ResultTable columns={first?.columns ?? []} rows={pages.rows} />
          <MoreRows
            hasMore={pages.hasMore}
            isLoading={pages.isLoadingMore}
            loadMore={pages.loadMore}
          />
        </section>
      )}
    </Loaded>
  )
}

function Groups({ asked, open }: { asked: Asked; open: Draft['open'] }) {
  const project_id = useProjectId()
  const query = useQuery({
    queryKey: ['aggregate', project_id, asked],
    queryFn: ({ signal }) => readGroups(asked, signal),
  })
  const { body } = asked
  return (
    <Loaded query={query} what="Measuring">
      {(answer) => (
        <section className={ui.stack} aria-label="Result">
          <About answer={answer} count={`${formatCount(answer.rows.length)} rows`}>
            <ExportButtons asked={asked} />
          </About>
          {answer.truncated && (
            <p className={ui.notice}>
              There are more groups than the limit of {formatCount(body.limit ?? 50)} rows. Raise
              the limit, or measure only the largest groups.
            </p>
          )}
          <TimeChart asked={asked} answer={answer} />
          <ResultTable
            columns={answer.columns}
            rows={answer.rows}
            action={(row) => {
              const records = recordsOf(body, row)
              if (records === undefined) return null
              const { select } = latestOf(body.entity)
              const { window } = records
              return (
                <Button
                  small
                  look="plain"
                  onClick={() => open({ ...records.body, ...(select && { select }) }, { window })}
                >
                  Records
                </Button>
              )
            }}
          />
        </section>
      )}
    </Loaded>
  )
}

/** The store that answered, and the cost of the query. */
function About({
  answer,
  count,
  children,
}: {
  answer: Pick<AggregateAnswer, 'stats' | 'served_by' | 'fallback_reason'>
  count: string
  children: React.ReactNode
}) {
  const { stats, served_by, fallback_reason } = answer
  const read = [
    ...(stats.rows_read === null ? [] : [`${formatCount(stats.rows_read)} rows`]),
    ...(stats.bytes_read === null ? [] : [formatBytes(stats.bytes_read)]),
  ].join(', ')
  return (
    <>
      <div className={ui.row}>
        <h2>{count}</h2>
        <span className={ui.soft}>
          {served_by} took {formatDuration(stats.duration_ms)}
          {read === '' ? '' : ` and read ${read}`}
        </span>
        <span className={css.push}>{children}</span>
      </div>
      {fallback_reason !== null && (
        <p className={ui.notice}>
          The preferred store did not answer ({fallback_reason}); {served_by} did.
        </p>
      )}
    </>
  )
}

const types = { csv: 'text/csv;charset=utf-8', ndjson: 'application/x-ndjson' } as const

/** Downloads all rows of a query, also of pages that are not shown, up to a bound that is said. */
function ExportButtons({ asked }: { asked: Asked }) {
  const [progress, setProgress] = useState<{ count: number; stop: AbortController }>()
  const start = async (format: ExportFormat) => {
    const stop = new AbortController()
    setProgress({ count: 0, stop })
    try {
      const onRows = (count: number) => setProgress({ count, stop })
      const { columns, rows, isCut } = await readRows(asked, stop.signal, onRows)
      const text = format === 'csv' ? toCsv(columns, rows) : toNdjson(rows)
      download(text, format, asked.body.entity)
      const said = `${formatCount(rows.length)} rows exported`
      notify(isCut ? `${said}. There are more: a file holds the first ones only.` : said)
    } catch (error) {
      if (!stop.signal.aborted) notifyFault(error)
    } finally {
      setProgress(undefined)
    }
  }
  if (progress !== undefined) {
    return (
      <>
        <span role="status">{formatCount(progress.count)} rows read…</span>
        <Button small onClick={() => progress.stop.abort()}>
          Stop
        </Button>
      </>
    )
  }
  const bound = `All pages, at most ${formatCount(maxExportRows)} rows`
  return (
    <>
      <Button small title={bound} onClick={() => void start('csv')}>
        Export CSV
      </Button>
      <Button small title={bound} onClick={() => void start('ndjson')}>
        Export NDJSON
      </Button>
    </>
  )
}

async function readRows(asked: Asked, signal: AbortSignal, onRows: (count: number) => void) {
  if (asked.body.measures !== undefined) {
    const { rows, columns, truncated } = await readGroups(asked, signal)
    return { rows, columns: columns.map(({ name }) => name), isCut: truncated }
  }
  let columns: string[] = []
  const read = async (cursor: string | undefined) => {
    const page = await readPage(asked, { cursor, limit: exportPage, signal })
    columns = page.columns.map(({ name }) => name)
    return page
  }
  const { rows, isCut } = await readAll(read, { rows_max: maxExportRows, onRows })
  return { rows, columns, isCut }
}

function download(text: string, format: ExportFormat, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: types[format] }))
  const link = document.createElement('a')
  link.href = address
  link.download = `looptrace-${name}.${format}`
  link.click()
  // The browser has taken the content by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
