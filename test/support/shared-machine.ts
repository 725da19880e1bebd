import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import type { ScriptInput } from '../../src/capabilities/demo/index.ts'
import { firstKeyScopes } from '../../src/kernel/scopes.ts'
import { askBroker } from './broker.ts'
import { type Api, apiByToken } from './clients/api-reader.ts'
import type { FirstLogin } from './cluster.ts'
import type { MachineAddress } from './machine-broker.ts'
import { type ProviderProcess, scriptOver, seenOver } from './provider.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `global-setup.ts` serves machines. */
    machine_broker: string
  }
}

/** Role `all` of this worker, and the owner of an organization with one project of the file. */
export type SharedMachine = MachineAddress & {
  provider: Pick<ProviderProcess, 'base_urls' | 'seen'>
}

let ofWorker: Promise<{ machine: MachineAddress; admin: Api }> | undefined

/**
 * Returns role `all` as its test files share it, one after the other: each file gets an organization
 * of its own, and the provider plays the script of the file. A file that kills or configures the
 * service, or looks at all projects, starts one of its own.
 */
export async function sharedMachine({
  script = {},
}: {
  script?: ScriptInput
} = {}): Promise<SharedMachine> {
  ofWorker ??= machineOfWorker()
  const { machine, admin } = await ofWorker
  const { url } = machine.provider
  await scriptOver(url, script)
  return {
    service: machine.service,
    provider: { ...machine.provider, seen: () => seenOver(url) },
    login: await newLogin(machine.service.base_url, admin),
  }
}

async function machineOfWorker() {
  const machine: MachineAddress = JSON.parse(await askBroker(inject('machine_broker')))
  const admin = await apiByToken({ api_url: machine.service.base_url, login: machine.login })
  return { machine, admin }
}

/** Creates an organization with a project, a key of it, and a person who owns both. */
async function newLogin(base_url: string, admin: Api): Promise<FirstLogin> {
  const made = async (path: string, body: object) => {
    const reply = await admin.post(path, body)
    if (reply.status !== 201) throw new Error(`${path}: ${JSON.stringify(reply)}`)
    return reply.body
  }
  const name = randomUUID()
  const organization_id = String((await made('/api/v2/access/organizations', { name }))['id'])
  const organization = `/api/v2/access/organizations/${organization_id}`
  const project_id = String((await made(`${organization}/projects`, { name }))['id'])
  const keys = `/api/v2/access/projects/${project_id}/api-keys`
  const project_key = String((await made(keys, { name, scopes: firstKeyScopes }))['key'])
  const admin_email = `${name}@example.com`
  const invited = await made(`${organization}/members`, { email: admin_email, role: 'owner' })
  const admin_password = 'correct horse battery'
  const accepted = await fetch(`${base_url}/api/v1/auth/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: invited['token'], display_name: name, password: admin_password }),
  })
  if (accepted.status !== 201) throw new Error(`no owner: ${await accepted.text()}`)
  return { organization_id, project_id, admin_email, admin_password, project_key }
}
