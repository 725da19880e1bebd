import { useState } from 'react'
import { call } from '../../api/client.ts'
import { downloadText } from '../../ui/download.ts'
import { TextField } from '../../ui/fields.tsx'
import { formatCount } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import type { Chain } from './chain.ts'

/** Records that one file of the browser holds at most. */
const records_max = 100_000

type Part = { text: string; last_seq: number; records: number }

/** Reads the next records of a chain as lines of JSON. */
async function readPart(chain: Chain, after_seq: number): Promise<Part> {
  const { data } = await call.GET('/api/v2/audit/export', {
    params: { query: { chain, after_seq } },
    parseAs: 'text',
  })
  const lines = String(data ?? '')
    .split('\n')
    .filter(Boolean)
  const last = lines.at(-1)
  const last_seq = last === undefined ? after_seq : (JSON.parse(last) as { seq: number }).seq
  return { text: lines.map((line) => `${line}\n`).join(''), last_seq, records: lines.length }
}

/** Saves the records as a file, for a check without the service. */
export function Export({ chain }: { chain: Chain }) {
  const [after, setAfter] = useState('0')
  const [done, setDone] = useState<number>()
  const [error, setError] = useState<unknown>()
  const run = async () => {
    setError(undefined)
    setDone(0)
    const texts: string[] = []
    let [at, count] = [Number(after), 0]
    try {
      for (;;) {
        const part = await readPart(chain, at)
        if (part.records === 0) break
        texts.push(part.text)
        at = part.last_seq
        count += part.records
        setDone(count)
        if (count >= records_max) break
      }
      downloadText(`audit-${chain}-${after}-${at}.ndjson`, texts.join(''), 'application/x-ndjson')
      notify(`${formatCount(count)} records up to ${at} are saved.`)
      setAfter(String(at))
    } catch (fault) {
      setError(fault)
    }
    setDone(undefined)
  }
  return (
    <div className={ui.stack}>
      <p>
        One record a line. Check the file later against your own copies of checkpoints and keys:{' '}
        <code>
          looptrace audit verify records.ndjson --checkpoints checkpoints/ --keys jwks.json
        </code>
      </p>
      <form
        className={ui.row}
        style={{ alignItems: 'end' }}
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <TextField
          label="After record number"
          type="number"
          min={0}
          required
          value={after}
          onChange={({ target }) => setAfter(target.value)}
        />
        <Button type="submit" look="primary" disabled={done !== undefined}>
          Save the records
        </Button>
      </form>
      <p className={ui.soft}>
        A file has up to {formatCount(records_max)} records and a few more. The next one continues
        after the last number.
      </p>
      {done !== undefined && <Progress label={`${formatCount(done)} records read`} />}
      {error !== undefined && <Fault error={error} />}
    </div>
  )
}
