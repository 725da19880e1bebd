import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { NewInvitation, Organization } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Fault } from '../../ui/states.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { linkOf } from './invitation-link.ts'

const projectRoles = [
  ['viewer', 'viewer: reads'],
  ['editor', 'editor: reads, and answers incidents'],
  ['admin', 'admin: everything in the project'],
] as const
const organizationRoles = [
  ['member', 'member: sees projects with a role'],
  ['admin', 'admin: all projects and members'],
  ['owner', 'owner: admin who can delete the organization'],
] as const

type Asked = { email: string; role: string; inOrganization: string }

/** Invites a person to the project; administrators of the organization choose a role there too. */
export function InviteForm({ organization }: { organization: Organization | undefined }) {
  const project_id = useProjectId()
  const client = useQueryClient()
  const [link, setLink] = useState<{ email: string; link: string }>()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const send = async ({ email, role, inOrganization }: Asked) => {
    if (organization === undefined) {
      const params = { path: { project_id } }
      return call.POST('/api/v2/access/projects/{project_id}/members', {
        params,
        body: { email, role: role as 'viewer' },
      })
    }
    return call.POST('/api/v2/access/organizations/{organization_id}/members', {
      params: { path: { organization_id: organization.id } },
      body: {
        email,
        role: inOrganization as 'member',
        projects: [{ project_id, role: role as 'viewer' }],
      },
    })
  }
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const values = new FormData(form)
    const text = (name: string) => String(values.get(name) ?? '')
    setRunning(true)
    setError(undefined)
    try {
      const { data } = await send({
        email: text('email'),
        role: text('role'),
        inOrganization: text('organization'),
      })
      setLink(data === undefined ? undefined : toLink(data as NewInvitation))
      form.reset()
      await client.invalidateQueries()
    } catch (fault) {
      setError(fault)
    }
    setRunning(false)
  }
  const faults = faultsOf(error)
  return (
    <section className={ui.stack} aria-label="Invite a person">
      <form
        className={ui.row}
        style={{ alignItems: 'end' }}
        onSubmit={(event) => void submit(event)}
      >
        <TextField
          label="E-mail to invite"
          name="email"
          type="email"
          required
          fault={faultAt(faults, '/email')}
        />
        <SelectField label="Role in the project" name="role" options={projectRoles} />
        {organization !== undefined && (
          <SelectField
            label="Role in the organization"
            name="organization"
            options={organizationRoles}
          />
        )}
        <Button type="submit" look="primary" disabled={isRunning}>
          {isRunning ? 'Inviting…' : 'Invite'}
        </Button>
      </form>
      {error !== undefined && <Fault error={error} />}
      {link !== undefined && (
        <ShownOnce title={`Pass this link on to ${link.email}`} secret={link.link} />
      )}
    </section>
  )
}

/** Returns the link to pass on; none if it was mailed, or if the person is a member already. */
function toLink(
  reply: NewInvitation | { email: string },
): { email: string; link: string } | undefined {
  const link = linkOf(reply, window.location.origin)
  if (link !== undefined) return { email: reply.email, link }
  if ('delivery' in reply) notify(`The invitation was mailed to ${reply.email}.`)
  else notify(`${reply.email} is a member already. The role was changed.`)
  return undefined
}
