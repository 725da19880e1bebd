import { useState } from 'react'
import { formatCount } from '../../ui/format.ts'
import { Button } from '../../ui/parts.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import {
  type ExportFormat,
  exportPage,
  maxExportRows,
  readAll,
  toCsv,
  toNdjson,
} from './export-rows.ts'
import { readGroups, readPage } from './run.ts'
import type { Asked } from './use-draft.ts'

const types = { csv: 'text/csv;charset=utf-8', ndjson: 'application/x-ndjson' } as const

/** Downloads all rows of a query, also of pages that are not shown, up to a bound that is said. */
export function ExportButtons({ asked }: { asked: Asked }) {
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
