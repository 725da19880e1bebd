import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import type { ReconcileDeps } from '../../contract.ts'
import type { Collection } from '../../declared/declared-object.ts'
import { parseAnswer } from '../../service/service-client.ts'

const channelShape = z.looseObject({
  channel_id: z.string(),
  name: z.string(),
  version: z.int(),
  fallback: z.string().nullish(),
  disabled: z.boolean(),
  disabled_reason: z.string().nullish(),
  unusable_reason: z.string().nullish(),
  managed_by: managedByField.nullable(),
  secrets: z.record(z.string(), z.looseObject({ set: z.boolean() })),
})

/** A channel in the service, without its secrets. */
export type Channel = z.output<typeof channelShape>

/** The channels of a project. */
export const channels: Collection<Channel> = {
  path: '/api/v2/observability/incidents/channels',
  noun: 'channel',
  list: 'channels',
  shape: channelShape,
  not_found: 'channel_not_found',
  reasons: {
    ...{ name_taken: 'NameTaken', limit_reached: 'LimitReached' },
    project_not_found: 'ProjectNotFound',
  },
  idOf: ({ channel_id }) => channel_id,
}

const deliveryShape = z.looseObject({
  started_at: z.iso.datetime(),
  status: z.int().nullable(),
  error: z.string().nullable(),
})

/** An attempt to deliver a message. */
export type Delivery = z.output<typeof deliveryShape>

/** Reads the last attempt of a channel to deliver a message. */
export async function readLastDelivery(
  { channel_id }: Channel,
  { service, project_id }: ReconcileDeps,
): Promise<Delivery | undefined> {
  const path = `${channels.path}/${channel_id}/deliveries?limit=1`
  const { body } = await service.request({ method: 'GET', path, project_id })
  return parseAnswer(deliveries, body, 'list of deliveries').deliveries[0]
}

const deliveries = z.looseObject({ deliveries: z.array(deliveryShape) })
