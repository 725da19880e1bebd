import { expect } from 'vitest'
import type { ProductCluster } from './product-cluster.ts'

/** People of a project in the service that the resources of a test declare. */
export type ProjectPeople = {
  /** The e-mail addresses of the members. */
  emailsIn(project_id: string): Promise<string[]>
  /** Accepts an invitation by the link that an administrator gets; returns the token of the link. */
  accept(invitation_id: string): Promise<string>
}

export function projectPeople({ service }: Pick<ProductCluster, 'service'>): ProjectPeople {
  const root = '/api/v2/access'
  return {
    emailsIn: async (project_id) => {
      const { body } = await service.call('GET', `${root}/projects/${project_id}/members`)
      return body.members.map(({ email }: { email: string }) => email)
    },
    accept: async (invitation_id) => {
      const { body } = await service.call('GET', `${root}/organizations`)
      const invitations = `${root}/organizations/${body.organizations[0].id}/invitations`
      const { body: sent } = await service.call('POST', `${invitations}/${invitation_id}/resend`)
      const accepted = await service.call('POST', '/api/v1/auth/invitations/accept', {
        key: '',
        body: { token: sent.token, display_name: 'Ada', password: 'a password of mine' },
      })
      expect(accepted.status).toBe(201)
      return sent.token
    },
  }
}
