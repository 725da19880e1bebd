import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type {
  CertificationComparison,
  ReleaseCertification,
  ReleaseCertificationRequest,
} from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Button, Heading, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { CertificationPage } from './certification-page.tsx'
import { Certifications } from './certifications.tsx'
import { estimateOf, type Gate } from './gates-table.tsx'
import { path, policiesPath } from './paths.ts'
import { Policies } from './policies.tsx'
import { type Verification, verifyStatement } from './statement.ts'
import { Checks, readServerKeys } from './statement-box.tsx'
import { formatMetric } from './texts.ts'
import { Verdict } from './verdict.tsx'

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

type ComparedGate = CertificationComparison['gates'][number] & { at: number }

/** Two certifications, gate by gate. */
function Comparison({ base, head }: { base: string; head: string }) {
  const [, change] = useUrlState()
  const query = api.useQuery('get', `${path}/compare`, { params: { query: { base, head } } })
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <Button small onClick={() => change({ base: undefined, head: undefined }, { push: true })}>
          ← All certifications
        </Button>
        <Button small onClick={() => change({ base: head, head: base })}>
          Swap
        </Button>
      </div>
      <Loaded query={query} what="Comparing">
        {(comparison) => (
          <>
            <h2>Gate by gate</h2>
            <Side title="Base" of={comparison.base} />
            <Side title="Head" of={comparison.head} />
            {!comparison.same_policy && (
              <p className={ui.notice}>The two were certified by different rules.</p>
            )}
            <Table
              label="Gates"
              columns={comparisonColumns}
              rows={comparison.gates.map((gate, at) => ({ ...gate, at }))}
              keyOf={({ at }) => String(at)}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Side({ title, of }: { title: string; of: ReleaseCertification }) {
  return (
    <p className={ui.row}>
      <strong>{title}</strong>
      <Plain>{`${of.release.name}@${of.release.version}`}</Plain>
      <Plain>{of.environment ?? 'no environment'}</Plain>
      <Verdict of={of.result} />
      <Time at={of.created_at} />
    </p>
  )
}

const side = (gate: Gate | null) =>
  gate === null ? (
    'no such gate'
  ) : (
    <>
      <Verdict of={gate.verdict} /> {estimateOf(gate)}
    </>
  )

const comparisonColumns: Column<ComparedGate>[] = [
  {
    id: 'gate',
    head: 'Gate',
    cell: ({ metric, kind }) => (
      <>
        {metric.replaceAll('_', ' ')} <div className={ui.soft}>{kind.replaceAll('_', ' ')}</div>
      </>
    ),
  },
  { id: 'base', head: 'Base', cell: ({ base }) => side(base) },
  { id: 'head', head: 'Head', cell: ({ head }) => side(head) },
  {
    id: 'change',
    head: 'Change',
    number: true,
    cell: ({ metric, change }) =>
      change !== null && `${change > 0 ? '+' : ''}${formatMetric(metric, change)}`,
  },
]

const week_ms = 7 * 86_400_000

/** Asks for the certification of a release. */
function CertifyButton() {
  const [isOpen, setOpen] = useState(false)
  const isEditor = useHasRole('editor')
  return (
    <>
      <Button
        look="primary"
        disabled={!isEditor}
        title={isEditor ? undefined : 'Editors of the project certify releases'}
        onClick={() => setOpen(true)}
      >
        Certify a release…
      </Button>
      <Dialog title="Certify a release" open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <CertifyForm onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  )
}

function CertifyForm({ onDone }: { onDone: () => void }) {
  const [, change] = useUrlState()
  const client = useQueryClient()
  const policies = api.useQuery('get', policiesPath, { params: { query: { limit: 200 } } })
  const start = api.useMutation('post', path, {
    onSuccess: async ({ certification_id }) => {
      await client.invalidateQueries({ queryKey: ['certifications'] })
      change({ tab: undefined, id: certification_id }, { push: true })
      onDone()
    },
  })
  const faults = faultsOf(start.error)
  const submit = (form: FormData) => {
    start.mutate({ body: requestOf(form) })
  }
  const names = policies.data?.policies.map(({ policy_id }) => policy_id) ?? []
  const options = [...new Set(['default', ...names])].map((id) => [id, id] as const)
  return (
    <Form
      of={start}
      action="Certify"
      pending="Starting…"
      onSubmit={submit}
      beside={
        <span className={ui.soft}>New evidence uses one of the attempts of the release.</span>
      }
    >
      <TextField label="Name" name="name" required fault={faultAt(faults, '/release/name')} />
      <TextField
        label="Version"
        name="version"
        required
        fault={faultAt(faults, '/release/version')}
      />
      <TextField
        label="Digest of the image"
        name="image_digest"
        placeholder="sha256:…"
        hint="Optional. The statement is then about this image."
        fault={faultAt(faults, '/release/image_digest')}
      />
      <TextField
        label="Environment"
        name="environment"
        hint="Empty: tasks without an environment."
        fault={faultAt(faults, '/environment')}
      />
      <SelectField label="Policy" name="policy_id" options={options} />
      <TextField
        label="Tasks since"
        name="from"
        type="date"
        defaultValue={new Date(serverNow() - week_ms).toISOString().slice(0, 10)}
        hint="UTC. Only the first certification of a release chooses its start."
        fault={faultAt(faults, '/window/from')}
      />
      <TextField
        label="Version to compare with"
        name="baseline"
        hint="Optional: the baseline of gates of the kind regression."
        fault={faultAt(faults, '/baseline/version')}
      />
    </Form>
  )
}

function requestOf(form: FormData): ReleaseCertificationRequest {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const [from, version] = [text('from'), text('baseline')]
  const environment = text('environment') || null
  return {
    release: {
      name: text('name'),
      version: text('version'),
      image_digest: text('image_digest') || null,
      tags: null,
    },
    environment,
    policy_id: text('policy_id') || 'default',
    ...(from !== '' && { window: { from: `${from}T00:00:00Z` } }),
    ...(version !== '' && {
      baseline: { name: null, version, tags: null, environment, eval_run_ids: [] },
    }),
    eval_run_ids: [],
  }
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
