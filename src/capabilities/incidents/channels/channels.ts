import { z } from 'zod'
import { isUuid, newId } from '../../../kernel/ids.ts'
import { idAfter, idPage, idPageQuery } from '../../../model/id-pages.ts'
import { flagParameter, textParameter } from '../../../model/list-query.ts'
import { managedByParameter } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  type Caller,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../platform/http/index.ts'
import { declaredBy, declaredByParameter, getDeclarer } from '../../access/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import {
  type ChannelWrite,
  createChannel,
  deleteStoredChannel,
  putChannel,
} from './change-channel.ts'
import { channelFields, channelSchema, checkChannel } from './channel.ts'
import { toChannelAnswer, toChannelReply } from './channel-reply.ts'
import { type ChannelRoutesDeps, channelNotFound, channelReads, channelWrites } from './contract.ts'
import { findChannelById, selectChannels } from './store.ts'

const url = '/api/v2/observability/incidents/channels'
const list = 'notification channels'

const channelBody = record('NotificationChannelRequest', {
  ...channelFields,
  managed_by: declaredBy,
}).superRefine(checkChannel)

export const channelPath = z.strictObject({
  channel_id: z.string().describe('Id of the channel.'),
})

/** GET /api/v2/observability/incidents/channels: the channels of a project, newest first. */
export function listChannels(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listNotificationChannels',
    summary: 'Notification channels, newest first',
    auth: 'jwt_or_key',
    scope: channelReads,
    query: z.strictObject({
      name: textParameter('Only the channel with this name.', 63),
      managed_by: managedByParameter
        .optional()
        .describe('Only the channel that this resource declares.'),
      ...idPageQuery,
    }),
    reply: record('NotificationChannelList', {
      channels: z.array(channelSchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, ...filter }, caller }) => {
      const result = await selectChannels(
        deps.db,
        { project_id: caller.project_id, ...filter },
        { before: idAfter(list, cursor), limit: limit + 1 },
      )
      const page = idPage(result, { list, limit, idOf: ({ id }) => id })
      const shown = page.items.map((row) => toChannelReply(row, deps, isOperator(caller)))
      return { channels: shown, ...page.info }
    },
  })
}

/**
 * POST /api/v2/observability/incidents/channels: creates a channel. When the resource of an
 * operator's call declares a channel already, the answer is that channel with 200, so that an
 * operator that crashed after the first call can repeat it.
 */
export function postChannel(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url,
    id: 'createNotificationChannel',
    summary: 'Create a notification channel',
    etag: true,
    status: 201,
    auth: 'jwt',
    scope: channelWrites,
    idempotent: true,
    shown_once: ['generated_secret'],
    body: channelBody,
    reply: channelSchema,
    also: {
      status: 200,
      description: 'The resource declares the channel already; the answer is that channel.',
      reply: channelSchema,
    },
    errors: ['name_taken', 'limit_reached', 'store_unavailable'],
    handle: async ({ body, caller }) => {
      const which = { project_id: caller.project_id, channel_id: newId() }
      const { channel, is_new, generated_secret } = await createChannel(
        deps,
        which,
        toWrite(deps, body, caller),
      )
      const status = is_new ? 201 : 200
      const is_operator = isOperator(caller)
      return toChannelAnswer(channel, deps, { status, is_operator, generated_secret })
    },
  })
}

/** GET /api/v2/observability/incidents/channels/{channel_id}: one channel, without its secrets. */
export function getChannel(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/channels/{channel_id}',
    id: 'getNotificationChannel',
    summary: 'Read a notification channel',
    etag: true,
    auth: 'jwt_or_key',
    scope: channelReads,
    params: channelPath,
    reply: channelSchema,
    errors: ['channel_not_found', 'store_unavailable'],
    handle: async ({ params: { channel_id }, caller }) => {
      const which = { project_id: caller.project_id, channel_id }
      const channel = isUuid(channel_id) ? await findChannelById(deps.db, which) : undefined
      if (channel === undefined) throw channelNotFound(channel_id)
      return toChannelAnswer(channel, deps, { is_operator: isOperator(caller) })
    },
  })
}

/**
 * PUT /api/v2/observability/incidents/channels/{channel_id}: replaces a channel. Secrets that the
 * body leaves out are kept. `disabled: false` enables a channel that its receiver ended.
 */
export function putChannelRoute(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/incidents/channels/{channel_id}',
    id: 'putNotificationChannel',
    summary: 'Replace a notification channel',
    etag: true,
    auth: 'jwt',
    scope: channelWrites,
    headers: [ifMatchHeader],
    params: channelPath,
    body: channelBody,
    reply: channelSchema,
    errors: [
      ...(['channel_not_found', 'managed_by_kubernetes', 'name_taken'] as const),
      ...(['precondition_failed', 'store_unavailable'] as const),
    ],
    handle: async ({ params, body, caller, headers }) => {
      const which = { ...params, project_id: caller.project_id, headers }
      const written = await putChannel(deps, which, toWrite(deps, body, caller))
      const { channel, generated_secret } = written
      return toChannelAnswer(channel, deps, { is_operator: isOperator(caller), generated_secret })
    },
  })
}

/**
 * DELETE /api/v2/observability/incidents/channels/{channel_id}: deletes a channel. Messages that
 * wait for it are dead. With `retain` the channel is kept, and only its declaration is removed.
 */
export function deleteChannelRoute(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/incidents/channels/{channel_id}',
    id: 'deleteNotificationChannel',
    summary: 'Delete a notification channel',
    status: 204,
    auth: 'jwt',
    scope: channelWrites,
    headers: [ifMatchHeader],
    params: channelPath,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter(
        '`true`: keep the channel and remove only its declaration. Requires `managed_by`.',
      ),
    }),
    reply: z.undefined(),
    errors: [
      ...(['channel_not_found', 'managed_by_kubernetes'] as const),
      ...(['precondition_failed', 'store_unavailable'] as const),
    ],
    handle: async ({ params, query: { managed_by, retain = false }, caller, headers }) => {
      const by = getDeclarer(caller, { managed_by, take_over: retain })
      await deleteStoredChannel(
        deps,
        { ...params, project_id: caller.project_id, headers },
        { by, is_operator: isOperator(caller), retain },
      )
      return undefined
    },
  })
}

function isOperator({ kind }: Caller): boolean {
  return kind === 'operator'
}

function toWrite(
  { clock }: ChannelRoutesDeps,
  { managed_by, ...body }: z.output<typeof channelBody>,
  caller: Caller,
): ChannelWrite {
  return {
    body,
    managed_by: getDeclarer(caller, { managed_by }),
    at: new Date(clock.now_ms()),
    by: requesterOf(caller),
  }
}
