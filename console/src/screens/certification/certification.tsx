import { type FormEvent, useState } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { TextField } from '../../ui/fields.tsx'
import { Button, Heading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { CertificationPage } from './certification-page.tsx'
import { Certifications } from './certifications.tsx'
import { CertifyButton } from './certify.tsx'
import { Comparison } from './comparison.tsx'
import { Policies } from './policies.tsx'
import { type Verification, verifyStatement } from './statement.ts'
import { readServerKeys } from './statement-box.tsx'
import { Checks } from './statement-checks.tsx'

/** Releases that were certified, why, by which policy, and the check of a signed statement. */
export function Certification() {
  const [{ id, base, head }] = useUrlState()
  const isComparing = base !== undefined && head !== undefined
  return (
    <div className={ui.stack}>
      <Heading title="Certification">
        <CertifyButton />
      </Heading>
      <Tabs
        label="Certification"
        tabs={[
          {
            id: 'certifications',
            title: 'Certifications',
            render: () => {
              if (isComparing) return <Comparison base={base} head={head} />
              return id === undefined ? <Certifications /> : <CertificationPage id={id} />
            },
          },
          { id: 'policies', title: 'Policies', render: () => <Policies /> },
          { id: 'verify', title: 'Check a statement', render: () => <VerifyFile /> },
        ]}
      />
    </div>
  )
}

/** Checks a statement from a file, with the keys of this server or of another file. */
function VerifyFile() {
  const project_id = useProjectId()
  const [result, setResult] = useState<Verification>()
  const check = async (form: FormData) => {
    const [statement, keys] = [form.get('statement'), form.get('keys')]
    if (!(statement instanceof File)) return
    const isOwn = keys instanceof File && keys.size > 0
    const keysText = isOwn ? await keys.text() : await readServerKeys()
    const expected = { project_id, now_ms: serverNow() }
    setResult(await verifyStatement(await statement.text(), keysText, expected))
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void check(new FormData(event.currentTarget)).catch(notifyFault)
  }
  return (
    <form className={ui.stack} onSubmit={submit}>
      <TextField label="Statement" name="statement" type="file" accept=".json" required />
      <TextField
        label="Keys"
        name="keys"
        type="file"
        accept=".json"
        hint="A key set that you kept. Without a file, the keys of this server are used."
      />
      <div>
        <Button type="submit" look="primary">
          Check the statement
        </Button>
      </div>
      {result !== undefined && <Checks of={result} />}
    </form>
  )
}
