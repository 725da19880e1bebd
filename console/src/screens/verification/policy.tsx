import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { VerificationConfig } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatUsd } from '../../ui/format.ts'
import { Badge } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import css from './verification.module.css'

/** Which tasks are verified without a request, by which verifiers. */
export function PolicyTab() {
  const query = api.useQuery('get', '/api/v1/verification/config')
  return (
    <Loaded query={query} what="Reading the policy">
      {(config) => (
        <div className={ui.stack}>
          <PolicyForm key={config.policy.version} config={config} />
          <h2>Verifiers</h2>
          <Table
            label="Verifiers"
            columns={columns}
            rows={config.verifiers}
            keyOf={({ name }) => name}
          />
        </div>
      )}
    </Loaded>
  )
}

function PolicyForm({ config }: { config: VerificationConfig }) {
  const { policy, limits } = config
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const [isOn, setOn] = useState(policy.enabled)
  const reload = () =>
    client.invalidateQueries({ queryKey: ['get', '/api/v1/verification/config'] })
  const save = api.useMutation('put', '/api/v1/verification/policy', {
    onSuccess: async () => {
      notify('The policy is saved.')
      await reload()
    },
  })
  const faults = faultsOf(save.error)
  const submit = (form: FormData) => {
    const params = { header: { 'If-Match': `"${policy.version}"` } }
    const rest = requestOf(form, config)
    save.mutate({ params, body: { enabled: isOn, ...rest } })
  }
  return (
    <Form
      of={save}
      action="Save the policy"
      isAdmin={isAdmin}
      className={css.form}
      onSubmit={submit}
      onReload={() => void reload()}
    >
      <h2>Verify automatically</h2>
      <fieldset className={css.plain} disabled={!isAdmin}>
        <CheckField
          label="Verify tasks after they have become quiet"
          checked={isOn}
          onChange={(event) => setOn(event.target.checked)}
        />
        <TextField
          label="Share of the tasks in percent"
          name="sample_percent"
          inputMode="decimal"
          defaultValue={policy.sample_percent}
          fault={faultAt(faults, '/sample_percent')}
        />
        <TextField
          label="Names of the tasks, by comma"
          name="task_names"
          defaultValue={policy.task_names?.join(', ')}
          placeholder="all"
          hint="`*` stands for any text: invoice*"
          fault={faultAt(faults, '/task_names')}
        />
        <TextField
          label="Budget in US dollars a day"
          name="budget"
          inputMode="decimal"
          defaultValue={policy.budget_usd_per_day ?? ''}
          placeholder={limits.budget_usd_per_day}
          hint={`At most ${formatUsd(limits.budget_usd_per_day)}, the limit of the installation.`}
          fault={faultAt(faults, '/budget_usd_per_day')}
        />
        <TextField
          label="Minimum time between two verifications"
          name="min_interval"
          defaultValue={policy.min_interval ?? ''}
          placeholder="none"
          fault={faultAt(faults, '/min_interval')}
        />
        <VerifierChoice of={config} />
      </fieldset>
    </Form>
  )
}

/** Reads the fields of the form; numbers that cannot be read are left to the API to refuse. */
function requestOf(form: FormData, { verifiers }: VerificationConfig) {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const names = text('task_names')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const chosen = verifiers.filter(({ name }) => form.get(`verifier ${name}`) === 'on')
  return {
    sample_percent: Number(text('sample_percent')),
    task_names: names.length > 0 ? names : null,
    verifiers: chosen.length > 0 ? chosen.map(({ name }) => name) : null,
    budget_usd_per_day: text('budget') || null,
    min_interval: text('min_interval') || null,
  }
}

function VerifierChoice({ of: { verifiers, policy } }: { of: VerificationConfig }) {
  return (
    <fieldset className={css.choice}>
      <legend>Verifiers</legend>
      {verifiers.map(({ name, available }) => (
        <CheckField
          key={name}
          label={available ? name : `${name} (not available)`}
          name={`verifier ${name}`}
          defaultChecked={policy.verifiers?.includes(name) ?? false}
        />
      ))}
      <span className={ui.soft}>None chosen: all that are available.</span>
    </fieldset>
  )
}

const columns: Column<VerificationConfig['verifiers'][number]>[] = [
  { id: 'name', head: 'Verifier', cell: ({ name }) => name },
  {
    id: 'available',
    head: 'Available',
    cell: ({ available }) => (
      <Badge tone={available ? 'good' : undefined}>{available ? 'yes' : 'no'}</Badge>
    ),
  },
  {
    id: 'about',
    head: 'What it does',
    cell: ({ description, reason }) => (
      <>
        {description}
        {reason !== null && (
          <p className={ui.soft}>
            <Plain>{reason}</Plain>
          </p>
        )}
      </>
    ),
  },
  { id: 'cost', head: 'Cost', wide: true, cell: ({ cost }) => cost },
  { id: 'weight', head: 'Weight', number: true, wide: true, cell: ({ weight }) => weight },
]
