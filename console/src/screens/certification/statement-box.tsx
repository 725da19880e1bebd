import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { ReleaseCertification } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useProjectId } from '../../session/project.ts'
import { downloadText } from '../../ui/download.ts'
import { Button } from '../../ui/parts.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { path } from './paths.ts'
import { type Verification, verifyStatement } from './statement.ts'
import { Checks } from './statement-checks.tsx'

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
