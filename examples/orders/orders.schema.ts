import { Id, Type, type Validated } from 'latchkey/feature'

export const maxQuantity = 1000

export const NewOrder = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        product_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        quantity: Type.Integer({ minimum: 1, maximum: maxQuantity }),
      }),
      { minItems: 1, maxItems: 1000 },
    ),
  },
  { title: 'NewOrder' },
)
export type NewOrderBody = Validated<typeof NewOrder>

export const OrderResource = Type.Object(
  {
    id: Id,
    user_id: Id,
    status: Type.Union([Type.Literal('placed'), Type.Literal('cancelled')]),
    total: Type.Number({ description: 'In dollars, to the cent.' }),
    items: Type.Array(
      Type.Object({ product_id: Id, name: Type.String(), quantity: Type.Integer(), unit_price: Type.Number() }),
    ),
    created_at: Type.String({ format: 'date-time' }),
    cancelled_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { title: 'Order' },
)
