-- Reads, listings, GraphQL, creates and a few sign-ins in turn. TOKEN and the bodies come from the environment.
local json = { ["content-type"] = "application/json" }
local signed = { ["content-type"] = "application/json", ["authorization"] = "Bearer " .. os.getenv("TOKEN") }
local create, login, query = os.getenv("CREATE"), os.getenv("LOGIN"), os.getenv("QUERY")
local count = 0

request = function()
  count = count + 1
  if count % 2000 == 0 then return wrk.format("POST", "/api/auth/login", json, login) end
  local turn = count % 20
  if turn == 0 then return wrk.format("POST", "/api/v2/products", signed, create) end
  if turn <= 2 then return wrk.format("POST", "/graphql", json, query) end
  if turn <= 5 then return wrk.format("GET", "/api/v2/products?per_page=100&page=" .. (1 + count % 7), signed) end
  if turn <= 7 then return wrk.format("GET", "/api/auth/me", signed) end
  return wrk.format("GET", "/api/v2/products/" .. (1 + count % 900))
end
