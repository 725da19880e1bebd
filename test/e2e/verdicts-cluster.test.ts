import { describe } from 'vitest'
import { verdictSuite } from '../support/agents/verdict-suite.ts'
import { clusterShape } from '../support/clients/client-shape.ts'

describe('verdicts of separate processes', () => verdictSuite(clusterShape))
