import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { ReleaseCertification } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useProjectId } from '../../session/project.ts'
import { downloadText } from '../../ui/download.ts'
import { Badge, Button, Facts } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { path } from './paths.ts'
import { type Check, type Verification, verifyStatement } from './statement.ts'

const keysPath = '/.well-known/looptrace-certification-keys.json'
const one = `${path}/{certification_id}` as const

/** Reads the public keys of this installation. */
export async function readServerKeys(): Promise<string> {
  const { data } = await call.GET(keysPath)
  return JSON.stringify(data)
}

/** The signed statement: download it, check its signature here, compute its result again. */
export function StatementBox({ of }: { of: ReleaseCertification }) {
  const project_id = useProjectId()
  const [result, setResult] = useState<Verification>()
  const params = { path: { certification_id: of.certification_id } }
  const recompute = api.useMutation('post', `${one}/recompute`, { onError: notifyFault })
  const read = async () => {
    const { data } = await call.GET(`${one}/statement`, { params })
    return JSON.stringify(data)
  }
  const run = (action: () => Promise<void>) => () => void action().catch(notifyFault)
  const download = run(async () => {
    const name = `${of.release.name}-${of.release.version}`.replaceAll(/[^\w.-]+/g, '-')
    downloadText(`${name}-statement.json`, await read())
  })
  const check = run(async () => {
    const [statement, keys] = await Promise.all([read(), readServerKeys()])
    const release = `${of.release.name}@${of.release.version}`
    const expected = { project_id, release, verdict: of.result, now_ms: serverNow() }
    setResult(await verifyStatement(statement, keys, expected))
  })
  return (
    <section className={ui.stack} aria-label="Statement">
      <h3>Signed statement</h3>
      <div className={ui.row}>
        <Button onClick={download}>Download the statement</Button>
        <Button onClick={run(async () => downloadText('keys.json', await readServerKeys()))}>
          Download the keys
        </Button>
        <Button onClick={check}>Check the signature</Button>
        <Button disabled={recompute.isPending} onClick={() => recompute.mutate({ params })}>
          {recompute.isPending ? 'Computing…' : 'Compute the result again'}
        </Button>
      </div>
      {result !== undefined && <Checks of={result} />}
      {recompute.data !== undefined && (
        <p className={ui.notice} role="status">
          {recompute.data.result === 'equal'
            ? 'Computed again from the stored evidence: the statement has the same bytes.'
            : `Computed again from the stored evidence: ${recompute.data.result}. ${recompute.data.reason ?? ''}`}
        </p>
      )}
    </section>
  )
}

/** The results of the checks of a statement. */
export function Checks({ of: { checks, statement } }: { of: Verification }) {
  return (
    <div className={ui.stack} role="status">
      <Table label="Checks" columns={columns} rows={checks} keyOf={({ name }) => name} />
      {statement !== undefined && (
        <Facts
          of={[
            ['Subject', <code key="s">{statement.subject}</code>],
            ['Policy', <Plain key="p">{statement.policy}</Plain>],
            ['Environment', <Plain key="e">{statement.environment ?? 'none'}</Plain>],
            ['Signed at', statement.issued_at],
          ]}
        />
      )}
      <p className={ui.soft}>
        The signature was checked by this browser. A pipeline should keep its own copy of the keys.
      </p>
    </div>
  )
}

const columns: Column<Check>[] = [
  { id: 'name', head: 'Check', cell: ({ name }) => name },
  {
    id: 'fine',
    head: 'Result',
    cell: ({ isFine }) => <Badge tone={isFine ? 'good' : 'bad'}>{isFine ? 'yes' : 'no'}</Badge>,
  },
  { id: 'detail', head: 'Detail', cell: ({ detail }) => <Plain>{detail}</Plain> },
]
