import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { formatCount } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Badge, Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import type { Chain } from './chain.ts'
import { type Checked, explainCheck, joinChecks } from './verdict.ts'

/** Checks the chain, part by part, and says in plain words what that proves. */
export function Verify({ chain }: { chain: Chain }) {
  const [checked, setChecked] = useState<Checked>()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  const run = async (start: number | undefined) => {
    isStopped.current = false
    setRunning(true)
    setError(undefined)
    setChecked(undefined)
    let [all, after] = [undefined as Checked | undefined, start]
    try {
      do {
        const query = { chain, ...(after !== undefined && { after }) }
        const { data } = await call.GET('/api/v2/audit/verify', { params: { query } })
        if (data === undefined) throw new Error('The server sent an empty reply')
        all = joinChecks(all, data)
        after = data.next_after ?? undefined
        setChecked(all)
      } while (after !== undefined && !isStopped.current)
    } catch (fault) {
      setError(fault)
    }
    setRunning(false)
  }
  return (
    <div className={ui.stack}>
      <p>
        Each record holds the hash of the one before it, and signed checkpoints fix the chain. The
        check finds records that were changed, removed or added by a person without the signing key.
      </p>
      <div className={ui.row}>
        <Button look="primary" disabled={isRunning} onClick={() => void run(undefined)}>
          Check the newest records
        </Button>
        <Button disabled={isRunning} onClick={() => void run(0)}>
          Check from the first record
        </Button>
        {isRunning && (
          <Button
            onClick={() => {
              isStopped.current = true
            }}
          >
            Stop
          </Button>
        )}
      </div>
      {isRunning && <Progress label={`${formatCount(checked?.records ?? 0)} records checked`} />}
      {error !== undefined && <Fault error={error} />}
      {checked !== undefined && <Result checked={checked} />}
    </div>
  )
}

function Result({ checked }: { checked: Checked }) {
  return (
    <section className={ui.stack} aria-label="Result" role="status">
      <h2>
        {checked.valid ? <Badge tone="good">sound</Badge> : <Badge tone="bad">faults found</Badge>}
      </h2>
      {explainCheck(checked).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {checked.next_after !== null && (
        <p className={ui.soft}>The end of the chain is not reached yet.</p>
      )}
      {checked.faults.length > 0 && (
        <Table
          label="Faults"
          rows={checked.faults}
          keyOf={({ seq, kind, detail }) => `${seq} ${kind} ${detail}`}
          columns={[
            { id: 'seq', head: 'Record', number: true, cell: ({ seq }) => seq },
            { id: 'kind', head: 'Fault', cell: ({ kind }) => kind.replaceAll('_', ' ') },
            { id: 'detail', head: 'Detail', cell: ({ detail }) => <Plain>{detail}</Plain> },
          ]}
        />
      )}
    </section>
  )
}
