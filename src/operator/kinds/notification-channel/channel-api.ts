import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import type { ReconcileDeps, ResourceMeta } from '../../contract.ts'
import {
  type Collection,
  type DeclaredObject,
  declaredObject,
} from '../../service/declared-object.ts'
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

const channels: Collection<Channel> = {
  root: '/api/v2/observability/incidents/channels',
  noun: 'channel',
  not_found: 'channel_not_found',
  shape: channelShape,
  itemsOf: (body) => parseAnswer(page, body, 'list of channels').channels,
  idOf: ({ channel_id }) => channel_id,
}

const page = z.looseObject({ channels: z.array(z.unknown()) })

/** Returns the channel that a resource declares. */
export function declaredChannel(meta: ResourceMeta, deps: ReconcileDeps): DeclaredObject<Channel> {
  return declaredObject(channels, meta, deps)
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
  const path = `${channels.root}/${channel_id}/deliveries?limit=1`
  const { body } = await service.request({ method: 'GET', path, project_id })
  return parseAnswer(deliveries, body, 'list of deliveries').deliveries[0]
}

const deliveries = z.looseObject({ deliveries: z.array(deliveryShape) })
