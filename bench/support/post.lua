-- Posts BODY to the path, as the user of TOKEN where there is one.
wrk.method = "POST"
wrk.body = os.getenv("BODY")
wrk.headers["content-type"] = "application/json"
if os.getenv("TOKEN") then wrk.headers["authorization"] = "Bearer " .. os.getenv("TOKEN") end
