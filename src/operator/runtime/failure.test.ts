import { expect, test } from 'vitest'
import {
  KubeConflict,
  KubeForbidden,
  KubeInvalid,
  KubeNotFound,
  KubeUnavailable,
} from '../../platform/kube/index.ts'
import { NotReady } from '../contract.ts'
import { ServiceRefusal, ServiceUnavailable } from '../service/service-client.ts'
import { classifyFailure } from './failure.ts'
import { NotLeading } from './leader-election.ts'

const act = { verb: 'get', resource: 'secrets', namespace: 'a', name: 'b' }
const refusal = (status: number, code: string) =>
  new ServiceRefusal({ status, code, detail: 'said so' })

test.each<[Error, string | undefined, string, number | undefined]>([
  [new NotReady('Conflict', 'm', { again_after_ms: 5 }), 'Conflict', 'wait', 5],
  [new NotReady('ProjectNotFound', 'm'), 'ProjectNotFound', 'wait', undefined],
  [new ServiceUnavailable('m'), 'ServiceUnavailable', 'service', undefined],
  [new ServiceUnavailable('m', { retry_after_ms: 7 }), 'ServiceUnavailable', 'service', 7],
  [refusal(400, 'invalid_request'), 'ServiceRefused', 'service', undefined],
  [refusal(409, 'name_taken'), 'ServiceRefused', 'item', undefined],
  [refusal(412, 'precondition_failed'), 'ServiceRefused', 'item', undefined],
  [refusal(409, 'managed_by_kubernetes'), 'Conflict', 'service', undefined],
  [new KubeForbidden(act, 'may not get secrets'), 'Forbidden', 'service', undefined],
  [new KubeConflict(act, 'm'), undefined, 'now', undefined],
  [new KubeNotFound(act, 'm'), undefined, 'now', undefined],
  [new NotLeading('m'), undefined, 'now', undefined],
  [new KubeUnavailable(act, 'm', { retry_after_ms: 3 }), undefined, 'item', 3],
  [new KubeInvalid(act, 'm'), 'InternalError', 'item', undefined],
  [new TypeError('x is not a function'), 'InternalError', 'item', undefined],
])('%o', (error, reason, retry, after_ms) => {
  expect(classifyFailure(error)).toMatchObject({ reason, retry, after_ms })
})

test('the message names the missing verb, or quotes the refusal of the service', () => {
  expect(classifyFailure(new KubeForbidden(act, 'may not get secrets')).message).toBe(
    'may not get secrets',
  )
  expect(classifyFailure(refusal(400, 'invalid_request')).message).toBe(
    'the service refused the request (400 invalid_request): said so',
  )
})

test('the message of a defect is not exposed', () => {
  const { message } = classifyFailure(new TypeError('the secret is hunter2'))
  expect(message).toBe('the operator failed (TypeError): see its log')
})
