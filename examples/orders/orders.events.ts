import { defineEvent } from 'latchkey/feature'
import type { Order } from './orders.store.ts'

export const orderPlaced = defineEvent<Order>('OrderPlaced')
export const orderCancelled = defineEvent<Order>('OrderCancelled')
