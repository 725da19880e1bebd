import { afterAll, beforeAll, describe } from 'vitest'
import { verdictSuite } from '../support/agents/verdict-suite.ts'
import { type ClientShape, clusterShape } from '../support/clients/client-shape.ts'
import { clientSuite } from '../support/clients/client-suite.ts'

let shape: ClientShape
beforeAll(async () => {
  shape = await clusterShape()
})
afterAll(() => shape?.[Symbol.asyncDispose]())

describe('clients of separate processes', () => clientSuite(() => shape))
describe('verdicts of separate processes', () => verdictSuite(() => shape))
